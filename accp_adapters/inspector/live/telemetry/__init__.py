"""What a running graph tells OpenTelemetry, received over HTTP on this machine and shown as it comes."""
