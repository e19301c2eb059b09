#include "share/console/picture.h"

#include <math.h>

static bool valid(const tactus_Body *body)
{
	const uint32_t count = body->vertices._length / 3;
	bool good = body->vertices._length % 3 == 0 && body->triangles._length % 3 == 0;
	for (uint32_t i = 0; i < body->vertices._length; i++)
		good &= isfinite(body->vertices._buffer[i]) != 0;
	for (uint32_t i = 0; i < body->triangles._length; i++)
		good &= body->triangles._buffer[i] < count;
	const tactus_Vec3 *p = &body->pose.position_m;
	const double *r = body->pose.rotation;
	return good && isfinite(p->x + p->y + p->z) && isfinite(r[0] + r[1] + r[2] + r[3]);
}

static void write_body(const tactus_Body *body, text *t)
{
	const tactus_Vec3 *p = &body->pose.position_m;
	const double *r = body->pose.rotation;
	fprintf(t->file, "{\"name\":");
	text_string(t, body->name);
	fprintf(t->file, ",\"position\":[%.9g,%.9g,%.9g],\"rotation\":[%.9g,%.9g,%.9g,%.9g],\"vertices\":[",
		p->x, p->y, p->z, r[0], r[1], r[2], r[3]);
	for (uint32_t i = 0; i < body->vertices._length; i++)
		fprintf(t->file, "%s%.6g", i ? "," : "", (double)body->vertices._buffer[i]);
	fprintf(t->file, "],\"triangles\":[");
	for (uint32_t i = 0; i < body->triangles._length; i++)
		fprintf(t->file, "%s%u", i ? "," : "", body->triangles._buffer[i]);
	fprintf(t->file, "]}");
}

static void write_bodies(const tactus_Scene *scene, bool tools, text *t)
{
	bool any = false;
	for (uint32_t i = 0; i < scene->bodies._length; i++) {
		const tactus_Body *body = &scene->bodies._buffer[i];
		if (body->is_tool != tools || !valid(body))
			continue;
		fputs(any ? "," : "", t->file);
		write_body(body, t);
		any = true;
	}
}

void picture_write(const tactus_Scene *scene, text *t)
{
	fprintf(t->file, "{\"tools\":[");
	write_bodies(scene, true, t);
	fprintf(t->file, "],\"objects\":[");
	write_bodies(scene, false, t);
	fprintf(t->file, "]}");
}
