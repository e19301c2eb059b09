#!/usr/bin/env python3
"""Writes the hostile mesh files of this folder. They are committed; run this only to change them."""
import io
import json
import os
import random
import struct
import zipfile

os.chdir(os.path.dirname(os.path.abspath(__file__)))
rng = random.Random(1)


def write(name, data):
    with open(name, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def stl(count, triangles):
    return b"binary".ljust(80, b" ") + struct.pack("<I", count) + b"".join(
        struct.pack("<12fH", 0, 0, 1, *t, 0) for t in triangles)


def ply(form, vertices, faces, body):
    return (f"ply\nformat {form} 1.0\nelement vertex {vertices}\nproperty float x\nproperty float y\n"
            f"property float z\nelement face {faces}\nproperty list uchar int vertex_indices\nend_header\n"
            ).encode() + body


def gltf(buffer, indices, nodes=None, **change):
    doc = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes or [{"mesh": 0}],
           "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
           "buffers": [{"byteLength": len(buffer)}],
           "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 4 * indices}],
           "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
                          "min": [0, 0, 0], "max": [1, 1, 0]},
                         {"bufferView": 1, "componentType": 5125, "count": indices, "type": "SCALAR"}]}
    doc.update(change)
    return doc


def glb(doc, buffer, length=None, chunk=None):
    text = json.dumps(doc, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text
    body += struct.pack("<I4s", len(buffer) if chunk is None else chunk, b"BIN\0") + buffer
    return b"glTF" + struct.pack("<II", 2, 12 + len(body) if length is None else length) + body


def threemf(model, compression=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as z:
        def add(name, text):
            z.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), text, compression, 9)
        add("[Content_Types].xml", '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/'
            'content-types"><Default Extension="model" ContentType="application/vnd.ms-package.3dmanufacturing-3dmodel'
            '+xml"/></Types>')
        add("_rels/.rels", '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
            'relationships"><Relationship Target="/3D/3dmodel.model" Id="rel0" Type="http://schemas.microsoft.com/'
            '3dmanufacturing/2013/01/3dmodel"/></Relationships>')
        add("3D/3dmodel.model", model)
    return out.getvalue()


one = (0, 0, 0, 1, 0, 0, 0, 1, 0)
nan, inf = float("nan"), float("inf")
corners = struct.pack("<9f", *one)
face = struct.pack("<B3i", 3, 0, 1, 2)

# Nothing, or no mesh.
write("zero_bytes.off", b"")
write("one_byte.stl", b"s")
write("blank.obj", "\n\n\n")
write("comment.obj", "# only this\n")
write("no_faces.off", "OFF\n3 0 0\n0 0 0\n1 0 0\n0 1 0\n")
write("points.ply", ply("ascii", 2, 0, b"0 0 0\n1 1 1\n"))
write("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0\x90wS\xde")
write("prose.txt", "This is not a mesh.\n")
write("no_scene.gltf", '{"asset":{"version":"2.0"}}')
write("all_degenerate.off", "OFF\n3 1 0\n0 0 0\n1 1 1\n2 2 2\n3 0 1 2\n")

# Cut short.
write("truncated.stl", stl(1000, [one] * 3))
write("truncated.ply", ply("binary_little_endian", 3, 1, corners + face)[:-7])
write("truncated_vertices.ply", ply("binary_little_endian", 3, 1, corners[:20]))
write("truncated.off", "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n")
write("truncated_vertices.off", "OFF\n400 4 0\n0 0 0\n1 0 0\n0 1")
write("truncated_text.stl", "solid a\n" + "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
      "endloop\nendfacet\n" * 2 + "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n")
write("truncated_header.ply", ply("binary_little_endian", 3, 1, b"")[:90])
write("truncated_text.ply", ply("ascii", 3, 3, b"0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"))
write("truncated_text_vertices.ply", ply("ascii", 5, 1, b"0 0 0\n1 0 0\n0 1 0\n"))
buffer = corners + struct.pack("<3I", 0, 1, 2)
write("truncated.glb", glb(gltf(buffer, 3), buffer)[:-20])
write("truncated.gltf", json.dumps(gltf(buffer, 3))[:200])
write("truncated.3mf", threemf("<model/>")[:300])

# Counts beyond reason.
write("huge_count.stl", stl(0xFFFFFFFF, [one]))
write("huge_count.off", "OFF\n2000000000 2000000000 0\n0 0 0\n")
write("negative_count.off", "OFF\n-3 -1 0\n0 0 0\n")
write("huge_count.ply", ply("binary_little_endian", 4294967295, 1, corners))
write("huge_list.ply", ply("binary_little_endian", 3, 1, corners + struct.pack("<B", 255)))
write("huge_length.glb", glb(gltf(buffer, 3), buffer, 0xFFFFFFFF, 0xFFFFFFF0))
doc = gltf(buffer, 3)
doc["accessors"][0]["count"] = 4000000000
write("huge_accessor.glb", glb(doc, buffer))
doc = gltf(buffer, 3)
doc["bufferViews"][1]["byteOffset"] = 4294967290
write("huge_offset.glb", glb(doc, buffer))

# Indices that lead nowhere.
write("index.off", "OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n3 0 1 99999999\n")
write("negative_index.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 -2\n")
write("index.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 2147483647\n")
write("negative_index.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -99\n")
write("zero_index.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n")
write("index.ply", ply("ascii", 3, 1, b"0 0 0\n1 0 0\n0 1 0\n3 0 1 99\n"))
write("negative_index.ply", ply("binary_little_endian", 3, 1, corners + struct.pack("<B3i", 3, 0, 1, -1)))
bad = corners + struct.pack("<3I", 0, 1, 0x7FFFFFFF)
write("index.glb", glb(gltf(bad, 3), bad))
some = corners + struct.pack("<6I", 0, 1, 2, 0, 1, 3)
write("some_indices.glb", glb(gltf(some, 6), some))
write("index.3mf", threemf('<model xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"><resources><object '
                           'id="1"><mesh><vertices><vertex x="0" y="0" z="0"/></vertices><triangles><triangle v1="0" '
                           'v2="7" v3="9"/></triangles></mesh></object></resources><build><item objectid="1"/></build>'
                           '</model>'))

# Numbers that are none.
write("nan.off", "OFF\n3 1 0\n0 0 0\n1 nan 0\n0 1 0\n3 0 1 2\n")
write("nan.stl", stl(1, [(0, 0, 0, 1, nan, 0, 0, 1, 0)]))
write("inf.stl", stl(1, [(0, 0, 0, 1, 0, 0, 0, -inf, 0)]))
write("inf.ply", ply("binary_little_endian", 3, 1, struct.pack("<9f", 0, 0, 0, inf, 0, 0, 0, 1, 0) + face))
write("overflow.obj", "v 0 0 0\nv 1e300 0 0\nv 0 1 0\nf 1 2 3\n")

# Bytes without meaning.
for ext in ("obj", "stl", "ply", "off", "gltf", "glb", "3mf", "fbx", "3ds", "blend", "dae", "bin"):
    write("garbage." + ext, rng.randbytes(600))
for ext, head in (("ply", b"ply\nformat binary_little_endian 1.0\nelement vertex 9\n"), ("glb", b"glTF\2\0\0\0"),
                  ("fbx", b"Kaydara FBX Binary  \0\x1a\0"), ("3ds", b"MM"), ("blend", b"BLENDER-v262")):
    write("headed_garbage." + ext, head + rng.randbytes(400))

# Structures that explode.
write("deep.gltf", '{"asset":{"version":"2.0"},"extras":' + "[" * 50000)
write("cycle.gltf", json.dumps(gltf(buffer, 3, [{"children": [1]}, {"children": [0], "mesh": 0}])))
# Forty levels, each twice the child of the level above: 2^40 instances.
double = [{"children": [i + 1, i + 1]} for i in range(40)] + [{"mesh": 0}]
write("instances.glb", glb(gltf(buffer, 3, double), buffer))
write("bomb.3mf", threemf("<model>" + " " * (16 << 20)))
write("laughs.dae", '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {c} "{f"&{p};" * 10}">' for p, c in zip("abcdefghi", "bcdefghij")) + "]><COLLADA>&j;</COLLADA>")
