"""A simulated hand presses a ball onto a sphere for a second, as apps/examples/touch_sphere.c does."""
import tactus

SCENE = """
scene: a sphere
materials: [{name: rubber, stiffness_N_per_m: 1000}]
tools:
- name: ball
  axes: 3
  device: sim:omega3
  shapes: [{kind: solids, solids: "sphere:r=0.005"}]
  hand: [{time_s: 0, position_m: [0, 0, 0.045]}, {time_s: 0.5, position_m: [0, 0, 0.032]},
    {time_s: 60, position_m: [0, 0, 0.032]}]
objects: [{name: sphere, material: rubber, shapes: [{kind: sphere, radius_m: 0.03}]}]
"""

with tactus.Session(tactus.Scene.parse(SCENE), seconds=1) as session:
    session.wait()
    s = session.snapshot()
    print(f"force {s.force_N[2]:.3f} N, device {1e3 * (s.tool[2] - s.device[2]):.3f} mm behind the surface, "
          f"{len(s.contacts)} contact")
