"""What the snapshot methods share: NetWalk, AddGraph, StrGNN, TADDY."""
