#include "share/console/picture.h"

#include "haptic/world.h"
#include "share/console/text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define TRIANGLES_MAX 200000 // of a scene that is built for a picture

struct picture {
	char *yaml;
	pthread_t thread;
	_Atomic(char *) json;
};

static bool has_files(const tac_scene_shape *shapes, int32_t count)
{
	for (int32_t i = 0; i < count; i++)
		if (shapes[i].file[0])
			return true;
	return false;
}

// Whether the scene can be built from its text alone, in reasonable time.
static bool self_contained(const tac_scene *scene)
{
	bool files = tac_scene_triangles(scene) > TRIANGLES_MAX;
	for (int32_t i = 0; i < scene->tool_count; i++)
		files |= has_files(scene->tools[i].shapes, scene->tools[i].shape_count);
	for (int32_t i = 0; i < scene->object_count; i++)
		files |= has_files(scene->objects[i].shapes, scene->objects[i].shape_count);
	return !files;
}

static void write_body(text *t, const tac_world_body *body, tac_dpose T)
{
	FILE *file = t->file;
	fprintf(file, "{\"name\":");
	text_string(t, body->name ? body->name : "");
	fprintf(file, ",\"position\":[%.9g,%.9g,%.9g],\"rotation\":[%.9g,%.9g,%.9g,%.9g],\"vertices\":[",
		T.position.x, T.position.y, T.position.z, T.rotation.x, T.rotation.y, T.rotation.z,
		T.rotation.w);
	const tac_mesh *mesh = body->mesh;
	for (int32_t i = 0; mesh && i < mesh->vertex_count; i++)
		fprintf(file, "%s%.6g,%.6g,%.6g", i ? "," : "", (double)mesh->vertices[i].x,
			(double)mesh->vertices[i].y, (double)mesh->vertices[i].z);
	fprintf(file, "],\"triangles\":[");
	for (int32_t i = 0; mesh && i < mesh->triangle_count; i++)
		fprintf(file, "%s%d,%d,%d", i ? "," : "", mesh->triangles[i].vertex[0],
			mesh->triangles[i].vertex[1], mesh->triangles[i].vertex[2]);
	fprintf(file, "]");
	if (body->is_round)
		fprintf(file, ",\"radius\":%.9g", body->round.radius);
	fprintf(file, "}");
}

static char *draw(const tac_world *world)
{
	text t;
	if (!text_begin(&t))
		return NULL;
	fprintf(t.file, "{\"tools\":[");
	for (int32_t i = 0; i < world->scene->tool_count; i++) {
		fputs(i ? "," : "", t.file);
		write_body(&t, &world->tools[i], tac_dpose_identity());
	}
	fprintf(t.file, "],\"objects\":[");
	for (int32_t i = 0; i < world->scene->object_count; i++) {
		fputs(i ? "," : "", t.file);
		write_body(&t, &world->objects[i], tac_world_object_pose(world, i, 0));
	}
	fprintf(t.file, "]}");
	return text_end(&t) ? t.bytes : NULL;
}

static void *build(void *user)
{
	picture *p = user;
	tac_scene *scene = NULL;
	tac_world *world = NULL;
	if (tac_scene_parse(p->yaml, strlen(p->yaml), "scene", &scene) >= TAC_OK && self_contained(scene) &&
	    tac_world_build(scene, tac_collider_find("wide"), &world) >= TAC_OK)
		atomic_store(&p->json, draw(world));
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
	return NULL;
}

picture *picture_begin(const char *yaml)
{
	picture *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->yaml = strdup(yaml);
	if (!p->yaml || pthread_create(&p->thread, NULL, build, p) != 0) {
		free(p->yaml);
		free(p);
		return NULL;
	}
	return p;
}

char *picture_take(picture *p)
{
	return p ? atomic_exchange(&p->json, NULL) : NULL;
}

void picture_end(picture **p)
{
	if (*p) {
		pthread_join((*p)->thread, NULL);
		free((*p)->json);
		free((*p)->yaml);
		free(*p);
	}
	*p = NULL;
}
