"""The core joined to one outside thing each; import the folder of yours."""
