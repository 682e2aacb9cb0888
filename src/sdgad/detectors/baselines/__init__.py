"""Methods to compare with, one file each, under the same contract."""
