"""Events from pandas, polars and PyG, and back. What is not installed is skipped.

python examples/06_bridges.py
"""

from importlib.util import find_spec

import sdgad

events = sdgad.simulate_payments(num_events=500, seed=0)
print("A stream:", events)

if find_spec("pandas"):
    frame = events.to_pandas()
    frame["round sum"] = frame["amount"] % 5 == 0  # a column of your own can be a feature, too
    print(
        "\npandas:", frame.shape, "->", sdgad.read_events(frame, features=["amount", "channel", "round sum"])
    )
else:
    print("\npandas is not installed: pip install 'sdgad[bridges]'")

if find_spec("polars"):
    import polars as pl

    frame = events.to_polars().filter(pl.col("channel") == "card")
    # A polars frame has no room for what its columns mean, so hand that over.
    print("\npolars:", frame.shape, "->", sdgad.read_events(frame, columns=events.names, clock=events.clock))
else:
    print("\npolars is not installed: pip install 'sdgad[bridges]'")

if find_spec("torch_geometric"):
    data = events.to_pyg()  # ids become numbers, categories become codes
    print("\nPyG:", data, "->", sdgad.read_events(data))
else:
    print("\nPyG is not installed: pip install 'sdgad[bridges]'")

# No package at all: a dictionary of columns, as TGB has them or as yours are called.
columns = {"who": ["ann", "bob", "ann"], "whom": ["bob", "cem", "cem"], "hour": [1, 2, 5]}
print("\na dictionary ->", sdgad.read_events(columns, src="who", dst="whom", time="hour", time_unit="h"))
print("\nTGB:", ", ".join(events.to_tgb()))
