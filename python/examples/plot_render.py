"""Computes the forces of a stroke over a scene, off line, and tabulates them; with matplotlib and a file name, plots them.
    plot_render.py [SCENE [PICTURE.png]]"""
import sys

import numpy as np

import tactus

scene = sys.argv[1] if len(sys.argv) > 1 else "sphere"
t = np.arange(1, 1001) * 1e-3
path = np.zeros((len(t), 8))
path[:, 0] = t
path[:, 1] = 0.02 * np.sin(4 * t)
path[:, 3] = np.maximum(0.05 - 0.1 * t, 0.004)  # down, then along
path[:, 7] = 1  # no rotation

rows = tactus.render(scene, path)
print("t_s    device z  SCO z     fx       fy       fz       contacts")
for row in rows[99::100]:
    print(f"{row['t_s']:.3f}  {row['z']:.5f}  {row['sco_z']:.5f} {row['fx']:8.3f} {row['fy']:8.3f} {row['fz']:8.3f}  "
          f"{row['contacts']}")
if len(sys.argv) > 2:
    import matplotlib.pyplot as plot

    for name in ("fx", "fy", "fz"):
        plot.plot(rows["t_s"], rows[name], label=name)
    plot.xlabel("time, s")
    plot.ylabel("force, N")
    plot.legend()
    plot.savefig(sys.argv[2])
