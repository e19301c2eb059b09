#include "apps/viewer/stage.h"

#include "collision/mesh_shapes.h"
#include "collision/solid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOOL_COLOUR    0x2f9ddcffU
#define SECOND_COLOUR  0x7d68e0ffU
#define GHOST_COLOUR   0xff6ab8ffU
#define FORCE_COLOUR   0xffa020ffU
#define STICK_COLOUR   0x5fd39affU
#define SLIP_COLOUR    0xff6b4affU
#define IDLE_COLOUR    0xaab4c0ffU
#define TRACK_COLOUR   0x8e1f2fffU
#define NEEDLE_COLOUR  0xd7dee6ffU
#define PROTECT_COLOUR 0xff3b3bffU

// Of the materials of a body that is drilled, by label.
static const viewer_colour material_colours[VIEWER_SURFACES] = {0xe4ddccffU, 0xdcb878ffU, 0x6d4630ffU,
								0xb56a5affU, 0x9fae7cffU, 0x8798b8ffU,
								0xa98fb0ffU, 0x8a8a84ffU};

#define GHOST_M      30e-6 // a ghost is shown if device and SCO differ by more than this,
#define GHOST_RAD    5e-3  // or by this angle
#define FORCE_HALF_N 2.0F  // force at which the arrow has half of its maximum length

// ---- set-up ----

static tac_result upload(viewer_mesh *m, const tac_mesh *mesh, GLuint program)
{
	return mesh ? viewer_mesh_init(m, mesh, program) : TAC_OK;
}

// Uploads a mesh that was just built with result `built`, and destroys it.
static tac_result upload_built(viewer_mesh *m, tac_result built, tac_mesh **mesh)
{
	const tac_result result = built == TAC_OK ? upload(m, *mesh, 0) : built;
	tac_mesh_destroy(mesh);
	return result;
}

static void compute_bounds(viewer_stage *s)
{
	tac_vec3 low = tac_vec3_splat(HUGE_VALF), high = tac_vec3_splat(-HUGE_VALF);
	for (int32_t i = 0; i < s->world->scene->object_count; i++) {
		const tac_mesh *m = s->world->objects[i].mesh;
		if (!m)
			continue;
		const tac_pose T = tac_pose_from_dpose(tac_world_object_pose(s->world, i, 0));
		for (int corner = 0; corner < 8; corner++) {
			const tac_vec3 p = tac_pose_apply_point(
				T, tac_vec3_make(corner & 1 ? m->bounds_max.x : m->bounds_min.x,
						 corner & 2 ? m->bounds_max.y : m->bounds_min.y,
						 corner & 4 ? m->bounds_max.z : m->bounds_min.z));
			s->corners[s->corner_count++] = p;
			low = tac_vec3_min(low, p);
			high = tac_vec3_max(high, p);
		}
	}
	if (!(low.x <= high.x)) // no objects
		low = tac_vec3_splat(-0.1F), high = tac_vec3_splat(0.1F);
	s->centre = tac_vec3_lerp(low, high, 0.5F);
	s->radius = tac_vec3_length(tac_vec3_sub(high, low)) / 2;
	s->size = fmaxf(fmaxf(high.x - low.x, high.y - low.y), high.z - low.z);
}

// The protected structures of an object.
static tac_result upload_structures(viewer_stage *s, int32_t object)
{
	const tac_scene_object *o = &s->world->scene->objects[object];
	tac_result result = TAC_OK;
	for (int32_t i = 0; i < o->protect_count && result == TAC_OK; i++) {
		const tac_mesh *own = s->world->objects[object].structures[i].mesh;
		tac_solids solids;
		tac_mesh *mesh = NULL;
		if (own) {
			result = upload(&s->structures[object][i], own, 0);
			continue;
		}
		result = tac_solids_parse(o->protect[i].solids, &solids);
		if (result == TAC_OK)
			result = upload_built(&s->structures[object][i],
					      tac_solids_build_mesh(&solids, 48, &mesh), &mesh);
	}
	return result;
}

tac_result viewer_stage_init(viewer_stage *s, const tac_world *world, tac_surface *surface,
			     GLuint depth_program)
{
	memset(s, 0, sizeof *s);
	s->world = world;
	for (int i = 0; i < TAC_SCENE_TOOLS; i++)
		viewer_chips_init(&s->chips[i]);
	tac_mesh *mesh = NULL;
	tac_result result = upload_built(&s->ball, tac_mesh_build_icosphere(1, 2, &mesh), &mesh);
	if (result == TAC_OK)
		result = upload_built(&s->rod, tac_mesh_build_cylinder(1, 1, 20, 1, &mesh), &mesh);
	if (result == TAC_OK)
		result = upload_built(&s->tip, tac_mesh_build_cone(1, 1, 24, 1, &mesh), &mesh);
	if (result == TAC_OK)
		result = upload_built(&s->cube, tac_mesh_build_box(tac_vec3_splat(1), 1, &mesh), &mesh);
	for (int32_t i = 0; i < world->scene->tool_count && result == TAC_OK; i++)
		result = upload(&s->tools[i], world->tools[i].mesh, depth_program);
	for (int32_t i = 0; i < world->scene->object_count && result == TAC_OK; i++) {
		if (!(surface && world->objects[i].field))
			result = upload(&s->objects[i], world->objects[i].mesh, depth_program);
		if (result == TAC_OK)
			result = upload_structures(s, i);
		if (result == TAC_OK && world->objects[i].compliance && s->dent_count < TAC_SCENE_SOFT)
			result = viewer_dent_init(&s->dents[s->dent_count++], world, i, &s->objects[i]);
	}
	if (result == TAC_OK)
		result = viewer_patches_init(&s->patches, surface);
	compute_bounds(s);
	return result;
}

void viewer_stage_fini(viewer_stage *s)
{
	viewer_mesh_fini(&s->ball);
	viewer_mesh_fini(&s->rod);
	viewer_mesh_fini(&s->tip);
	viewer_mesh_fini(&s->cube);
	for (int i = 0; i < TAC_SCENE_TOOLS; i++)
		viewer_mesh_fini(&s->tools[i]);
	for (int i = 0; i < TAC_SCENE_OBJECTS; i++) {
		viewer_mesh_fini(&s->objects[i]);
		for (int k = 0; k < TAC_SCENE_PROTECTED; k++)
			viewer_mesh_fini(&s->structures[i][k]);
	}
	viewer_patches_fini(&s->patches);
	for (int i = 0; i < s->dent_count; i++)
		viewer_dent_fini(&s->dents[i]);
}

viewer_camera viewer_stage_camera(const viewer_stage *s, int index)
{
	const tac_scene *scene = s->world->scene;
	if (scene->camera_count > 0) {
		const tac_scene_camera *c = &scene->cameras[index % scene->camera_count];
		return viewer_camera_make(tac_vec3_from_dvec3(c->eye_m), tac_vec3_from_dvec3(c->target_m),
					  tac_vec3_from_dvec3(c->up), (float)c->field_of_view_rad);
	}
	const tac_vec3 from =
		tac_vec3_scale(tac_vec3_normalize(tac_vec3_make(0.55F, -1, 0.75F)), 3 * s->radius);
	return viewer_camera_make(tac_vec3_add(s->centre, from), s->centre, tac_vec3_make(0, 0, 1), 0.7F);
}

// ---- items ----

static viewer_item *add(viewer_stage *s, const viewer_mesh *mesh, tac_pose T, float stretch,
			viewer_colour colour)
{
	static viewer_item spare;
	if (s->item_count == VIEWER_ITEMS)
		return &spare;
	viewer_item *item = &s->items[s->item_count++];
	*item = (viewer_item){
		.mesh = mesh, .T_world_body = T, .stretch = tac_vec3_splat(stretch), .colour = colour};
	return item;
}

// The rotation that takes the z axis to the unit vector `d`.
static tac_quat rotation_to(tac_vec3 d)
{
	const tac_vec3 x = tac_vec3_perpendicular(d);
	return tac_quat_from_mat3(tac_mat3_from_columns(x, tac_vec3_cross(d, x), d));
}

static void add_arrow(viewer_stage *s, tac_vec3 from, tac_vec3 vector, float thickness, viewer_colour colour)
{
	const float length = tac_vec3_length(vector);
	if (!(length > 0))
		return;
	const tac_vec3 d = tac_vec3_div(vector, length);
	const tac_quat rotation = rotation_to(d);
	const float head = fminf(5 * thickness, 0.6F * length);
	const tac_vec3 middle = tac_vec3_add_scaled(from, (length - head) / 2, d);
	viewer_item *rod = add(s, &s->rod, tac_pose_make(middle, rotation), 1, colour);
	rod->stretch = tac_vec3_make(thickness, thickness, length - head);
	const tac_vec3 end = tac_vec3_add_scaled(from, length - head / 2, d);
	viewer_item *tip = add(s, &s->tip, tac_pose_make(end, rotation), 1, colour);
	tip->stretch = tac_vec3_make(2.4F * thickness, 2.4F * thickness, head);
	rod->mark = tip->mark = true;
	rod->glow = tip->glow = 1.3F;
}

// A burr in its hole has dozens of contacts all around, which would hide it: there only those that bear a
// load are shown, and small.
static void add_contacts(viewer_stage *s, const tac_snapshot *snapshot, float contact_size)
{
	for (int32_t i = 0; i < snapshot->contact_count; i++) {
		const tac_snapshot_contact *c = &snapshot->contacts[i];
		const bool loaded = tac_dvec3_length(c->force_N) > 1e-4;
		const bool drilled =
			c->object < s->world->scene->object_count && s->world->objects[c->object].field;
		const float size = (drilled ? 0.4F : 1) * contact_size;
		if (drilled && !loaded)
			continue;
		const viewer_colour colour = !loaded                       ? IDLE_COLOUR
					     : snapshot->friction.slipping ? SLIP_COLOUR
									   : STICK_COLOUR;
		const tac_vec3 at = tac_vec3_from_dvec3(c->point_m);
		viewer_item *dot = add(s, &s->ball, tac_pose_make(at, tac_quat_identity()),
				       (loaded ? 1.0F : 0.6F) * size, colour);
		dot->mark = true;
		dot->glow = 1;
		if (loaded)
			add_arrow(s, at, tac_vec3_scale(tac_vec3_from_dvec3(c->normal), 9 * size),
				  0.3F * size, colour);
	}
}

// Where the force arrow starts: the load-weighted centre of the contacts, or of the pressed tissue, or the
// tool's origin.
static tac_vec3 force_point(const tac_snapshot *snapshot)
{
	tac_dvec3 sum = tac_dvec3_zero();
	double weight = 0;
	for (int32_t i = 0; i < snapshot->contact_count; i++) {
		const double load = tac_dvec3_length(snapshot->contacts[i].force_N);
		sum = tac_dvec3_add_scaled(sum, load, snapshot->contacts[i].point_m);
		weight += load;
	}
	if (weight == 0 && snapshot->tissue.state.loaded > 0)
		return tac_vec3_from_dvec3(snapshot->tissue.point_m);
	return tac_vec3_from_dvec3(weight > 0 ? tac_dvec3_div(sum, weight) : snapshot->T_world_sco.position);
}

static void add_force(viewer_stage *s, const tac_snapshot *snapshot, float size)
{
	const tac_vec3 force = tac_vec3_from_dvec3(snapshot->sent.force_N);
	const float strength = tac_vec3_length(force);
	if (!(strength > 0.02F))
		return;
	const float length = 60 * size * strength / (strength + FORCE_HALF_N);
	add_arrow(s, force_point(snapshot), tac_vec3_scale(force, length / strength), 0.75F * size,
		  FORCE_COLOUR);
}

static void light_surface(viewer_item *item, int32_t surface)
{
	for (int i = 0; i < item->lit_count; i++)
		if (item->lit[i] == surface)
			return;
	if (item->lit_count < VIEWER_LIT)
		item->lit[item->lit_count++] = surface;
}

// On an object of a single surface, and on one that is drilled, only the surroundings of the contacts are
// lit.
static void light_point(viewer_item *item, tac_vec3 point)
{
	if (item->touched_count < VIEWER_TOUCHED)
		item->touched[item->touched_count++] = point;
}

static bool needs_ghost(const tac_snapshot *snapshot)
{
	const tac_dpose T = tac_dpose_relative(snapshot->T_world_sco, snapshot->T_world_device);
	return tac_dvec3_length(T.position) > GHOST_M || fabs(tac_dquat_angle(T.rotation)) > GHOST_RAD;
}

// ---- needles ----

static void add_rod(viewer_stage *s, tac_dvec3 from, tac_dvec3 to, float radius, viewer_colour colour)
{
	const tac_vec3 a = tac_vec3_from_dvec3(from), way = tac_vec3_sub(tac_vec3_from_dvec3(to), a);
	const float length = tac_vec3_length(way);
	if (!(length > 0))
		return;
	const tac_vec3 middle = tac_vec3_add_scaled(a, 0.5F, way);
	viewer_item *rod =
		add(s, &s->rod, tac_pose_make(middle, rotation_to(tac_vec3_div(way, length))), 1, colour);
	rod->stretch = tac_vec3_make(radius, radius, length);
	rod->gloss = 0.6F;
}

// The track that the needle has cut, and its shape where it is bent.
static void add_needle(viewer_stage *s, const tac_snapshot_needle *needle, float radius)
{
	for (int32_t i = 0; i + 1 < needle->track_count; i++)
		add_rod(s, needle->track_m[i], needle->track_m[i + 1], 0.7F * radius, TRACK_COLOUR);
	for (int32_t i = 0; i + 1 < needle->shape_count; i++)
		add_rod(s, needle->shape_m[i], needle->shape_m[i + 1], radius, NEEDLE_COLOUR);
}

// The axis of the object's frame across the layers that points most towards the camera.
static tac_vec3 towards_camera(tac_vec3 normal, tac_vec3 view)
{
	tac_vec3 best = tac_vec3_perpendicular(normal);
	float most = -2;
	for (int k = 0; k < 6; k++) {
		const float sign = k < 3 ? 1.0F : -1.0F;
		tac_vec3 axis =
			tac_vec3_make(k % 3 == 0 ? sign : 0, k % 3 == 1 ? sign : 0, k % 3 == 2 ? sign : 0);
		if (fabsf(tac_vec3_dot(axis, normal)) > 0.7F)
			continue;
		axis = tac_vec3_normalize(tac_vec3_add_scaled(axis, -tac_vec3_dot(axis, normal), normal));
		if (tac_vec3_dot(axis, view) > most) {
			most = tac_vec3_dot(axis, view);
			best = axis;
		}
	}
	return best;
}

// Layers as slabs, cut through the middle of the body: the half towards the camera is left out, so that
// needle, track and bones are visible in front of the cut.
static void add_layers(viewer_stage *s, int32_t object, tac_pose T, const viewer_camera *camera)
{
	static const viewer_colour colours[] = {0xe3b39affU, 0xe9d28cffU, 0xc98a86ffU, 0xb9776fffU,
						0xd9a45fffU, 0xa9c3c9ffU, 0x8e9fc9ffU, 0xb7a3c4ffU};
	const tac_scene_layers *layers = &s->world->scene->objects[object].layers;
	const tac_mesh *m = s->world->objects[object].mesh;
	const tac_vec3 n = tac_vec3_from_dvec3(tac_dvec3_normalize(layers->normal));
	const tac_vec3 eye = tac_pose_apply_point(tac_pose_inverse(T), viewer_camera_eye(camera));
	const tac_vec3 middle = tac_vec3_lerp(m->bounds_min, m->bounds_max, 0.5F);
	const tac_vec3 u = towards_camera(n, tac_vec3_normalize(tac_vec3_sub(eye, middle)));
	const tac_vec3 v = tac_vec3_cross(n, u);
	const tac_vec3 half = tac_vec3_scale(tac_vec3_sub(m->bounds_max, m->bounds_min), 0.5F);
	const float across = tac_vec3_dot(half, tac_vec3_abs(u)), along = tac_vec3_dot(half, tac_vec3_abs(v));
	const float height = 2 * tac_vec3_dot(half, tac_vec3_abs(n));
	const tac_quat rotation =
		tac_quat_mul(T.rotation, tac_quat_from_mat3(tac_mat3_from_columns(u, v, n)));
	float top = 0;
	for (int32_t i = 0; i < layers->list_count && top < height; i++) {
		const bool last = i == layers->list_count - 1;
		const float thick = fminf(last ? height : (float)layers->list[i].thickness_m, height - top);
		tac_vec3 at = tac_vec3_add_scaled(middle, 0.5F * height - top - 0.5F * thick, n);
		at = tac_vec3_add_scaled(at, -0.5F * across, u);
		viewer_item *slab = add(s, &s->cube, tac_pose_make(tac_pose_apply_point(T, at), rotation), 1,
					colours[(size_t)i % (sizeof colours / sizeof colours[0])]);
		slab->stretch = tac_vec3_make(across, 2 * along, thick);
		slab->gloss = 0.05F;
		top += thick;
	}
}

static void add_tool(viewer_stage *s, const tac_snapshot *snapshot, const viewer_layers *layers, float size)
{
	const viewer_mesh *mesh = &s->tools[snapshot->tool];
	if (snapshot->needle.shape_count == 0) {
		viewer_item *tool = add(s, mesh, tac_pose_from_dpose(snapshot->T_world_sco), 1,
					snapshot->needle.present ? NEEDLE_COLOUR
					: snapshot->tool == 0    ? TOOL_COLOUR
								 : SECOND_COLOUR);
		tool->gloss = 0.75F;
	}
	if (snapshot->needle.present)
		add_needle(s, &snapshot->needle,
			   (float)s->world->scene->tools[snapshot->tool].needle.radius_m);
	if (layers->ghost && needs_ghost(snapshot))
		add(s, mesh, tac_pose_from_dpose(snapshot->T_world_device), 1, GHOST_COLOUR)->ghost = true;
	if (layers->contacts)
		add_contacts(s, snapshot, size);
	if (layers->force)
		add_force(s, snapshot, size);
}

static void add_objects(viewer_stage *s, const tac_snapshot *const *snapshots, const viewer_layers *layers,
			const viewer_camera *camera)
{
	static const viewer_colour colours[] = {0xcf7350ffU, 0x86a888ffU, 0xc9aa62ffU, 0x6f8fbdffU,
						0xb98a4affU, 0x9179b5ffU, 0x6fabaaffU, 0xb8b2a4ffU};
	const tac_snapshot *poses = snapshots[0] ? snapshots[0] : snapshots[1];
	for (int32_t i = 0; i < s->world->scene->object_count; i++) {
		const tac_dpose T = poses && i < poses->object_count ? poses->T_world_objects[i]
								     : tac_world_object_pose(s->world, i, 0);
		const bool hidden = poses ? poses->live.hidden >> i & 1u : s->world->scene->objects[i].hidden;
		const bool waits =
			poses && poses->live.waits >> i & 1u; // to be shown: the tool is still in it
		if (hidden && !waits)
			continue;
		if (s->world->scene->objects[i].layers.list_count > 0) {
			add_layers(s, i, tac_pose_from_dpose(T), camera);
			continue;
		}
		const bool drilled = s->world->objects[i].field && s->patches.surface;
		viewer_item *item =
			add(s, drilled ? &s->patches.mesh : &s->objects[i], tac_pose_from_dpose(T), 1,
			    colours[(size_t)i % (sizeof colours / sizeof colours[0])]);
		item->gloss = 0.15F;
		item->ghost = waits;
		item->surface_colours = drilled ? material_colours : NULL;
		for (int32_t k = 0; layers->structures && k < s->world->scene->objects[i].protect_count; k++)
			add(s, &s->structures[i][k], tac_pose_from_dpose(T), 1, PROTECT_COLOUR)->ghost = true;
		for (int tool = 0; layers->contacts && tool < TAC_SCENE_TOOLS; tool++) {
			const tac_snapshot *snapshot = snapshots[tool];
			if (snapshot && snapshot->tissue.state.loaded > 0 && snapshot->tissue.object == i)
				light_point(item, tac_vec3_from_dvec3(snapshot->tissue.point_m));
			for (int32_t k = 0; snapshot && k < snapshot->contact_count; k++) {
				const tac_snapshot_contact *c = &snapshot->contacts[k];
				if (c->object != i)
					continue;
				if (s->world->objects[i].mesh->surface_count > 1 &&
				    !s->world->objects[i].field)
					light_surface(item, c->object_surface);
				else
					light_point(item, tac_vec3_from_dvec3(c->point_m));
			}
		}
	}
}

static void add_chips(viewer_stage *s, const tac_snapshot *snapshot)
{
	viewer_chips *chips = &s->chips[snapshot->tool];
	viewer_chips_add(chips, snapshot, (float)s->world->scene->tools[snapshot->tool].drill.radius_m);
	for (int i = 0; i < VIEWER_CHIPS; i++) {
		tac_vec3 at;
		float left;
		if (!viewer_chips_at(chips, i, snapshot->time_ns, &at, &left))
			continue;
		const viewer_chip *chip = &chips->chips[i];
		add(s, &s->cube, tac_pose_make(at, chip->rotation), chip->size_m,
		    material_colours[chip->label % VIEWER_SURFACES])
			->fade = left;
	}
}

viewer_picture viewer_stage_compose(viewer_stage *s, const tac_snapshot *const *snapshots,
				    const viewer_layers *layers, const viewer_camera *camera)
{
	s->item_count = 0;
	for (int i = 0; i < s->dent_count; i++)
		viewer_dent_update(&s->dents[i], &s->objects[s->dents[i].object], snapshots);
	const float size = 0.0042F * camera->distance; // marks have a constant size on the screen
	add_objects(s, snapshots, layers, camera);
	float reach = s->radius;
	for (int tool = 0; tool < TAC_SCENE_TOOLS; tool++) {
		if (!snapshots[tool])
			continue;
		add_tool(s, snapshots[tool], layers, size);
		if (snapshots[tool]->drill.used)
			add_chips(s, snapshots[tool]);
		const tac_vec3 at = tac_vec3_from_dvec3(snapshots[tool]->T_world_sco.position);
		reach = fmaxf(reach, tac_vec3_length(tac_vec3_sub(at, s->centre)) + 0.5F * s->radius);
	}
	float ground = tac_vec3_dot(s->centre, camera->up);
	for (int i = 0; i < s->corner_count; i++)
		ground = fminf(ground, tac_vec3_dot(s->corners[i], camera->up));
	return (viewer_picture){
		.items = s->items,
		.item_count = s->item_count,
		.camera = *camera,
		.centre = s->centre,
		.radius = fminf(reach, 4 * s->radius),
		.ground = ground,
		.grounded = true,
	};
}

// ---- names ----

static void label_text(const tac_world *world, const tac_snapshot_contact *c, int32_t tool, char *out,
		       size_t size)
{
	const tac_world_body *body = &world->objects[c->object];
	const char *tool_surface = "";
	const char *tool_name = world->scene->tools[tool].name;
	const tac_mesh *tool_mesh = world->tools[tool].mesh;
	if (tool_mesh && c->tool_surface >= 0 && c->tool_surface < tool_mesh->surface_count)
		tool_surface = tool_mesh->surfaces[c->tool_surface].name;
	const char *surface = "";
	if (body->field) // its surfaces are labels of materials
		surface = tac_world_material(world, c->object, c->object_surface)->name;
	else if (body->mesh && c->object_surface >= 0 && c->object_surface < body->mesh->surface_count)
		surface = body->mesh->surfaces[c->object_surface].name;
	// A body or tool with a single surface often gives it its own name.
	const bool named = *surface && strcmp(surface, body->name) != 0;
	const bool with_tool = *tool_surface && strcmp(tool_surface, tool_name) != 0;
	snprintf(out, size, "%s%s%s%s%s%s%s%s", body->name, named ? ": " : "", named ? surface : "",
		 with_tool ? " (" : "", with_tool ? tool_name : "", with_tool ? ": " : "",
		 with_tool ? tool_surface : "", with_tool ? ")" : "");
}

static bool project(const viewer_camera *camera, int width, int height, tac_dvec3 point, viewer_label *out)
{
	mat4 view, projection;
	vec4 at = {(float)point.x, (float)point.y, (float)point.z, 1}, clip;
	viewer_camera_matrices(camera, (float)width / (float)height, view, projection);
	glm_mat4_mulv(view, at, clip);
	glm_mat4_mulv(projection, clip, clip);
	if (!(clip[3] > 0))
		return false;
	out->x = (0.5F + 0.5F * clip[0] / clip[3]) * (float)width;
	out->y = (0.5F - 0.5F * clip[1] / clip[3]) * (float)height;
	return true;
}

int viewer_stage_labels(const viewer_stage *s, const tac_snapshot *const *snapshots,
			const viewer_camera *camera, int width, int height, viewer_label *out)
{
	int count = 0;
	for (int tool = 0; tool < TAC_SCENE_TOOLS; tool++) {
		const tac_snapshot *snapshot = snapshots[tool];
		for (int32_t i = 0; snapshot && i < snapshot->contact_count && count < VIEWER_LABELS; i++) {
			const tac_snapshot_contact *c = &snapshot->contacts[i];
			if (c->object < 0 || c->object >= s->world->scene->object_count)
				continue; // the other tool has no label
			viewer_label label;
			label_text(s->world, c, snapshot->tool, label.text, sizeof label.text);
			bool listed = false;
			for (int k = 0; k < count; k++)
				listed |= strcmp(out[k].text, label.text) == 0;
			if (!listed && project(camera, width, height, c->point_m, &label))
				out[count++] = label;
		}
	}
	return count;
}
