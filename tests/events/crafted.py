"""Parquet files whose footer says what one wants: its Thrift (compact protocol) taken apart and put together again."""

from __future__ import annotations

import struct
from typing import Any

TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
INTEGERS = (4, 5, 6)
Struct = dict[int, tuple[int, Any]]  # field → (type, value); a list is (type of its elements, elements)

VERSION, SCHEMA, NUM_ROWS, ROW_GROUPS, KEY_VALUES = 1, 2, 3, 4, 5  # of FileMetaData
COLUMNS, GROUP_ROWS = 1, 3  # of RowGroup
CHUNK = 3  # of ColumnChunk
NUM_VALUES = 5  # of ColumnMetaData
NAME, CHILDREN, CONVERTED = 4, 5, 6  # of SchemaElement


def split(file: bytes) -> tuple[bytes, Struct]:
    """What stands before the footer, and the footer."""
    (size,) = struct.unpack("<I", file[-8:-4])
    return file[: -8 - size], _parse(file[-8 - size : -8], 0, STRUCT)[0]


def join(body: bytes, footer: Struct) -> bytes:
    """The inverse of `split`."""
    content = _encode(STRUCT, footer)
    return body + content + struct.pack("<I", len(content)) + b"PAR1"


def elements(struct: Struct, field: int) -> list[Any]:
    """The elements of a list, to be changed in place."""
    found: list[Any] = struct[field][1][1]
    return found


def put(struct: Struct, field: int, value: Any) -> None:
    struct[field] = (struct[field][0], value)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        at, number, shift = at + 1, number | (byte & 127) << shift, shift + 7
        if byte < 128:
            return number, at


def _parse(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in (TRUE, FALSE):
        return kind == TRUE, at
    if kind == BYTE:
        return data[at], at + 1
    if kind in INTEGERS:
        number, at = _varint(data, at)
        return (number >> 1) ^ -(number & 1), at
    if kind == DOUBLE:
        return data[at : at + 8], at + 8
    if kind == BINARY:
        size, at = _varint(data, at)
        return data[at : at + size], at + size
    if kind in (LIST, SET):
        head, at = data[at], at + 1
        count, inner = head >> 4, head & 15
        if count == 15:
            count, at = _varint(data, at)
        items = []
        for _ in range(count):
            item, at = (data[at], at + 1) if inner in (TRUE, FALSE) else _parse(data, at, inner)
            items.append(item)
        return (inner, items), at
    fields: Struct = {}
    last = 0
    while True:
        head, at = data[at], at + 1
        if head == 0:
            return fields, at
        if head >> 4:
            last += head >> 4
        else:
            number, at = _varint(data, at)
            last = (number >> 1) ^ -(number & 1)
        value, at = _parse(data, at, head & 15)
        fields[last] = (head & 15, value)


def _number(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _encode(kind: int, value: Any) -> bytes:
    if kind in (TRUE, FALSE):
        return b""
    if kind == BYTE:
        return bytes([value & 255])
    if kind in INTEGERS:
        return _number((value << 1) ^ (value >> 63))
    if kind == DOUBLE:
        return bytes(value)
    if kind == BINARY:
        return _number(len(value)) + value
    if kind in (LIST, SET):
        inner, items = value
        head = (
            bytes([len(items) << 4 | inner])
            if len(items) < 15
            else bytes([0xF0 | inner]) + _number(len(items))
        )
        return head + b"".join(bytes([i]) if inner in (TRUE, FALSE) else _encode(inner, i) for i in items)
    out, last = b"", 0
    for field, (written, content) in value.items():
        real = (TRUE if content else FALSE) if written in (TRUE, FALSE) else written
        step = field - last
        out += bytes([step << 4 | real]) if 0 < step < 16 else bytes([real]) + _number(field << 1)
        out, last = out + _encode(real, content), field
    return out + b"\0"
