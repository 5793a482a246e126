"""A network of one product as the bytes of an ONNX file: y = x w, x [batch, n], w [n, 4]."""


def varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, *parts):
    body = b"".join(p.encode() if isinstance(p, str) else p for p in parts)
    return varint(field << 3 | 2) + varint(len(body)) + body


def dim(d):
    return message(1, message(2, d) if isinstance(d, str) else number(1, d))


def value_info(field, name, dims):
    shape = message(2, *[dim(d) for d in dims])
    return message(field, message(1, name), message(2, message(1, number(1, 1), shape)))


def model(n="n", op="MatMul"):
    """`n`: a number, or the name of a symbolic dimension."""
    node = message(1, message(1, "x"), message(1, "w"), message(2, "y"), message(3, "product"),
                   message(4, op))
    rows = n if isinstance(n, int) else 16
    weight = message(5, number(1, rows), number(1, 4), number(2, 1), message(8, "w"),
                     message(9, bytes(4 * 4 * rows)))
    graph = message(7, node, message(2, "tiny"), weight, value_info(11, "x", ["batch", n]),
                    value_info(12, "y", ["batch", 4]))
    return number(1, 8) + graph + message(8, message(1, ""), number(2, 18))
