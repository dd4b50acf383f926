"""The safetensors format by hand: what the tests exchange with other frameworks.

read(path) -> ({name: (dtype, shape, bytes)}, {key: text}); write(path, tensors, notes) the inverse.
As a program, `safetensors.py OLD NEW` reads OLD and writes the same tensors to NEW in another order.
"""
import json
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length].decode("utf-8"))
    data = content[8 + length:]
    notes = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = (entry["dtype"], tuple(entry["shape"]), data[begin:end])
    assert sum(len(t[2]) for t in tensors.values()) == len(data)
    return tensors, notes


def write(path, tensors, notes=None):
    header, chunks, begin = {}, [], 0
    if notes:
        header["__metadata__"] = notes
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, begin + len(data)]}
        chunks.append(data)
        begin += len(data)
    text = json.dumps(header).encode("utf-8")
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(chunks))


if __name__ == "__main__":
    tensors, notes = read(sys.argv[1])
    notes["writer"] = "python"
    notes.pop("stablegrad.checksum")  # of the file as it was
    write(sys.argv[2], dict(reversed(list(tensors.items()))), notes)
