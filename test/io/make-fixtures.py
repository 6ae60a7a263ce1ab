"""Writes the files under fixtures/ with NumPy, and expected.json with what they hold.

    python3 make-fixtures.py && npm run format

Expected values are the elements as little-endian bytes in C order, in base64, so that they do not share the layout of
the file they come from. The safetensors files are put together by hand from the format's description.
"""
import base64
import io
import json
import os
import struct
import zipfile

import numpy as np

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixtures")
NAMES = {"b1": "bool", "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "i1": "i8", "i2": "i16", "i4": "i32",
         "i8": "i64", "f2": "f16", "f4": "f32", "f8": "f64", "c8": "c64", "c16": "c128", "V2": "bf16"}
rng = np.random.default_rng(0)
expected = {}


def path(name):
    return os.path.join(FOLDER, name)


def describe(array, **more):
    plain = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).reshape(array.shape)
    return {"dtype": NAMES[array.dtype.str[1:]], "shape": list(array.shape),
            "bytes": base64.b64encode(plain.tobytes()).decode(), **more}


def sample(code, shape):
    kind, size = np.dtype(code).kind, int(np.prod(shape))
    if kind == "b":
        data = rng.integers(0, 2, size)
    elif kind in "iu":
        info = np.iinfo(code)
        data = rng.integers(info.min, info.max, size, dtype=np.dtype(code).newbyteorder("="), endpoint=True)
        data[:2] = [info.min, info.max][:size]
    else:
        data = rng.normal(size=size) + (1j * rng.normal(size=size) if kind == "c" else 0)
        data[:3] = [np.nan, -np.inf, -0.0][:size]
    return np.asarray(data).astype(code).reshape(shape)


def save_npy(name, array, canonical=False, version=None):
    with open(path(name), "wb") as file:
        np.lib.format.write_array(file, array, version=version)
    expected[name] = describe(array, fortranOrder=bool(array.flags.f_contiguous and not array.flags.c_contiguous))
    if canonical:
        expected[name]["canonical"] = True


for code in ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"]:
    little = sample(np.dtype(code).newbyteorder("<"), (2, 3))
    name = NAMES[little.dtype.str[1:]]
    save_npy(f"{name}.npy", little, canonical=True)
    if little.dtype.itemsize > 1:
        save_npy(f"{name}-big-endian.npy", little.astype(little.dtype.newbyteorder(">")))
save_npy("scalar.npy", np.array(2.5, "<f4"), canonical=True)
save_npy("empty.npy", np.zeros((0, 3), "<f4"), canonical=True)
save_npy("one-axis.npy", np.arange(5, dtype="<i4"), canonical=True)
save_npy("rank-6.npy", np.arange(48, dtype="<i2").reshape(2, 1, 3, 2, 4, 1), canonical=True)
save_npy("fortran-f32.npy", np.asfortranarray(sample("<f4", (3, 4, 2))))
save_npy("fortran-c128.npy", np.asfortranarray(sample("<c16", (2, 3))))
save_npy("fortran-bool.npy", np.asfortranarray(sample("?", (4, 3))))
save_npy("fortran-big-endian-i64.npy", np.asfortranarray(sample(">i8", (3, 2))))
save_npy("version-2.npy", np.arange(6, dtype="<f8").reshape(2, 3), version=(2, 0))
save_npy("version-3.npy", np.arange(6, dtype="<u2").reshape(3, 2), version=(3, 0))

bf16 = np.array([0x3F80, 0xC000, 0x7F80, 0x7FC1, 0x0001, 0x8000], "<u2")
with open(path("bf16.npy"), "wb") as file:
    np.lib.format.write_array_header_1_0(file, {"descr": "<V2", "fortran_order": False, "shape": (2, 3)})
    file.write(bf16.tobytes())
expected["bf16.npy"] = {"dtype": "bf16", "shape": [2, 3], "bytes": base64.b64encode(bf16.tobytes()).decode(),
                        "fortranOrder": False}

# Files NumPy writes that Pumice must refuse by name.
for name, array in {"refused-object.npy": np.array([1, "a"], object), "refused-text.npy": np.array(["ab", "c"]),
                    "refused-date.npy": np.array(["2020-01-01"], "M8[D]"),
                    "refused-record.npy": np.zeros(2, [("x", "<f4"), ("y", "<i4")]),
                    "refused-long-double.npy": np.zeros(2, "g")}.items():
    np.save(path(name), array, allow_pickle=True)

arrays = {"weights": sample("<f4", (3, 4)), "bias": sample(">f8", (4,)), "columns": np.asfortranarray(sample("<i4", (3, 2))),
          "größe": np.array(7, "<i8"), "mask": sample("?", (9,))}
members = {name: describe(array) for name, array in arrays.items()}
np.savez(path("stored.npz"), **arrays)
np.savez_compressed(path("deflated.npz"), **arrays)


class Unseekable(io.RawIOBase):
    """A pipe: zipfile cannot go back, so it writes sizes after the data, in data descriptors."""

    def __init__(self, file):
        self.file = file

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)


def npy_bytes(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


with open(path("streamed.npz"), "wb") as file, zipfile.ZipFile(Unseekable(file), "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr(zipfile.ZipInfo("notes.txt"), "not an array")
    for name, array in arrays.items():
        with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
            member.write(npy_bytes(array))
    archive.comment = b"a comment"
for name in ["stored.npz", "deflated.npz", "streamed.npz"]:
    expected[name] = {"members": members}


def save_safetensors(name, tensors, metadata=None, pad=0):
    """tensors: name -> (safetensors dtype, shape, bytes), in the order of the data."""
    header, offset = {}, 0
    if metadata is not None:
        header["__metadata__"] = metadata
    for key, (dtype, shape, data) in tensors.items():
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header, ensure_ascii=False).encode() + b" " * pad
    with open(path(name), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values()))


CODES = {"BOOL": "?", "U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8", "I8": "i1", "I16": "<i2", "I32": "<i4",
         "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8", "C64": "<c8"}
all_types = {dtype: sample(code, (2, 3)) for dtype, code in CODES.items()}
tensors = {f"t.{dtype}": (dtype, [2, 3], array.tobytes()) for dtype, array in all_types.items()}
tensors["t.BF16"] = ("BF16", [6], bf16.tobytes())
tensors["scalar"] = ("F32", [], np.array(1.5, "<f4").tobytes())
tensors["empty"] = ("I64", [0, 4], b"")
save_safetensors("all-types.safetensors", tensors, metadata={"format": "pt", "größe": "ja"}, pad=5)
members = {f"t.{dtype}": describe(array) for dtype, array in all_types.items()}
members["t.BF16"] = {"dtype": "bf16", "shape": [6], "bytes": base64.b64encode(bf16.tobytes()).decode()}
members["scalar"] = describe(np.array(1.5, "<f4"))
members["empty"] = describe(np.zeros((0, 4), "<i8"))
expected["all-types.safetensors"] = {"members": members}
save_safetensors("foreign.safetensors", {"eight": ("F8_E4M3", [4], bytes(4)), "four": ("F4", [2, 3], bytes(3)),
                                         "known": ("U8", [2], b"\x01\x02")})

with open(path("expected.json"), "w") as file:
    json.dump(expected, file, indent=2, ensure_ascii=False)
    file.write("\n")
