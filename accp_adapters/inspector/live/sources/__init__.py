"""Where the inspector reads: checkpoints, recorded runs, files of frames, logs of sessions."""
