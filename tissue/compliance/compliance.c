#include "tissue/compliance/image.h"

#include "base/log.h"
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static tac_result refuse(const tac_compliance_def *def, const char *expected)
{
	tac_log(TAC_LOG_ERROR, "compliance of %s: expected %s", def->name ? def->name : "a body", expected);
	return TAC_ERROR_ARGUMENT;
}

static tac_result check(const tac_compliance_def *def)
{
	if (def->node_count < 1 || def->node_count > TAC_COMPLIANCE_NODES_MAX)
		return refuse(def, "1 to 4000 nodes");
	if (def->vertex_count < def->node_count || def->vertex_count > 4 * TAC_COMPLIANCE_NODES_MAX ||
	    def->triangle_count < 1 || def->triangle_count > 8 * TAC_COMPLIANCE_NODES_MAX)
		return refuse(def, "a surface of at most 16000 vertices and 32000 triangles");
	if (def->shown_count < 0 || def->shown_count > TAC_COMPLIANCE_BOUND_MAX)
		return refuse(def, "at most a million vertices that are shown");
	for (int32_t t = 0; t < def->triangle_count; t++) {
		const int32_t *v = def->triangles[t].vertex;
		bool moves = false;
		for (int k = 0; k < 3; k++) {
			if (v[k] < 0 || v[k] >= def->vertex_count)
				return refuse(def, "triangles of existing vertices");
			moves = moves || v[k] < def->node_count;
		}
		if (!moves)
			return refuse(def, "a node in every triangle");
		if (tac_vec3_length(tac_vec3_triangle_normal(def->vertices[v[0]], def->vertices[v[1]],
							     def->vertices[v[2]])) == 0)
			return refuse(def, "triangles with an area");
	}
	for (int32_t i = 0; i < def->shown_count; i++) {
		if (!tac_vec3_finite(def->shown[i]))
			return refuse(def, "finite coordinates");
	}
	return TAC_OK;
}

// Normals of the vertices, weighted by the triangles' areas, and a third of the area around each node.
static bool surface_of(const tac_compliance_def *def, tac_vec3 *out_normals, double *out_area)
{
	for (int32_t i = 0; i < def->vertex_count; i++)
		out_normals[i] = tac_vec3_zero();
	for (int32_t t = 0; t < def->triangle_count; t++) {
		const int32_t *v = def->triangles[t].vertex;
		const tac_vec3 cross = tac_vec3_triangle_cross(def->vertices[v[0]], def->vertices[v[1]],
							       def->vertices[v[2]]);
		for (int k = 0; k < 3; k++) {
			out_normals[v[k]] = tac_vec3_add(out_normals[v[k]], cross);
			if (v[k] < def->node_count)
				out_area[v[k]] += (double)tac_vec3_length(cross) / 6;
		}
	}
	bool good = true;
	for (int32_t i = 0; i < def->vertex_count; i++) {
		out_normals[i] = tac_vec3_normalize(out_normals[i]);
		good = good &&
		       (i >= def->node_count || (out_area[i] > 0 && tac_vec3_length(out_normals[i]) > 0));
	}
	return good;
}

// The mean of the blocks between the nodes of point i's spread and point j, with the spread's weights.
static tac_dmat3 mean_block(const tac_compliance *c, int32_t i, int32_t j)
{
	tac_dmat3 sum = {0};
	for (int32_t k = c->spread_start[i]; k < c->spread_start[i + 1]; k++) {
		const tac_mat3 block = tac_compliance_block(c, c->spread_node[k], j);
		sum = tac_dmat3_add(sum,
				    tac_dmat3_scale(tac_dmat3_from_mat3(block), (double)c->spread_weight[k]));
	}
	return sum;
}

static tac_dmat3 mean_diagonal(const tac_compliance *c, int32_t i)
{
	tac_dmat3 sum = {0};
	for (int32_t k = c->spread_start[i]; k < c->spread_start[i + 1]; k++)
		sum = tac_dmat3_add(sum, tac_dmat3_scale(mean_block(c, i, c->spread_node[k]),
							 (double)c->spread_weight[k]));
	return sum;
}

// The blocks between nodes from the caller, those of the coarser points from the rows above them. False if
// the result cannot be a compliance.
static bool fill_blocks(const tac_compliance_def *def, const tac_compliance *c, tac_mat3 *blocks)
{
	const int32_t points = tac_compliance_point_count(c);
	bool good = true;
	for (int32_t i = 0; i < points; i++) {
		tac_mat3 *row = blocks + (size_t)i * ((size_t)i + 1) / 2;
		const bool node = i < def->node_count;
		for (int32_t j = 0; j < i; j++)
			row[j] = tac_mat3_from_dmat3(node ? def->block(def->block_user, i, j)
							  : mean_block(c, i, j));
		// A diagonal block is its own transpose, to the bit.
		const tac_dmat3 own = node ? def->block(def->block_user, i, i) : mean_diagonal(c, i);
		row[i] = tac_mat3_from_dmat3(
			tac_dmat3_scale(tac_dmat3_add(own, tac_dmat3_transpose(own)), 0.5));
		good = good && row[i].m[0][0] > 0 && row[i].m[1][1] > 0 && row[i].m[2][2] > 0;
	}
	return good;
}

// A private image in memory: mapped, so that it is aligned to pages and zero.
static void *allocate_image(size_t size)
{
	void *image = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return image == MAP_FAILED ? NULL : image;
}

static tac_result out_of_memory(const char *name)
{
	tac_log(TAC_LOG_ERROR, "compliance of %s: out of memory", name ? name : "a body");
	return TAC_ERROR_MEMORY;
}

// Writes everything but the blocks to the image.
static void fill_arrays(const tac_compliance_def *def, const compliance_levels *levels,
			const tac_vec3 *normals, const compliance_layout *at, char *image)
{
	const size_t points = (size_t)levels->point_count, vertices = (size_t)def->vertex_count;
	const size_t spreads = (size_t)levels->spread_start[points];
	memcpy(image + at->vertices, def->vertices, vertices * sizeof(tac_vec3));
	memcpy(image + at->vertex_normals, normals, vertices * sizeof(tac_vec3));
	memcpy(image + at->triangles, def->triangles, (size_t)def->triangle_count * sizeof *def->triangles);
	for (size_t i = 0; i < points; i++) {
		const float area = (float)levels->area_m2[i];
		memcpy(image + at->points + i * sizeof(tac_vec3), &def->vertices[levels->node[i]],
		       sizeof(tac_vec3));
		memcpy(image + at->point_normals + i * sizeof(tac_vec3), &normals[levels->node[i]],
		       sizeof(tac_vec3));
		memcpy(image + at->point_area_m2 + i * sizeof area, &area, sizeof area);
	}
	memcpy(image + at->point_node, levels->node, points * sizeof *levels->node);
	memcpy(image + at->spread_start, levels->spread_start, (points + 1) * sizeof *levels->spread_start);
	memcpy(image + at->spread_node, levels->spread_node, spreads * sizeof *levels->spread_node);
	memcpy(image + at->spread_weight, levels->spread_weight, spreads * sizeof *levels->spread_weight);
	if (def->shown_count > 0)
		tac_compliance_bind(def, (tac_compliance_binding *)(void *)(image + at->bound));
}

static tac_result build_image(const tac_compliance_def *def, compliance_header *header,
			      const compliance_levels *levels, const tac_vec3 *normals, tac_compliance *c)
{
	compliance_layout at;
	if (!tac_compliance_lay_out(header, &at))
		return refuse(def, "a surface whose nodes lie apart");
	char *image = allocate_image(at.size);
	if (!image)
		return out_of_memory(def->name);
	header->size = at.size;
	memcpy(image, header, sizeof *header);
	fill_arrays(def, levels, normals, &at, image);
	c->image = image;
	c->image_bytes = at.size;
	// The blocks are still zero, which is valid; the second check sees those that are computed with the
	// help of the first.
	const char *wrong = tac_compliance_attach(c, image, at.size);
	if (!wrong && !fill_blocks(def, c, (tac_mat3 *)(void *)(image + at.blocks)))
		wrong = "a block whose diagonal is not positive";
	if (!wrong)
		wrong = tac_compliance_attach(c, image, at.size);
	if (wrong) {
		tac_log(TAC_LOG_ERROR, "compliance of %s: expected numbers in range, found %s",
			def->name ? def->name : "a body", wrong);
		return TAC_ERROR_ARGUMENT;
	}
	header->checksum = tac_compliance_checksum(image, at.size);
	memcpy(image, header, sizeof *header);
	return TAC_OK;
}

tac_result tac_compliance_create(const tac_compliance_def *def, tac_compliance **out_compliance)
{
	*out_compliance = NULL;
	tac_result result = check(def);
	if (result != TAC_OK)
		return result;
	compliance_header header = {
		.version = COMPLIANCE_VERSION,
		.byte_order = COMPLIANCE_BYTE_ORDER,
		.hash = def->hash,
		.material = def->material,
		.node_count = def->node_count,
		.vertex_count = def->vertex_count,
		.triangle_count = def->triangle_count,
		.bound_count = def->shown_count,
	};
	memcpy(header.magic, COMPLIANCE_MAGIC, sizeof header.magic);
	tac_compliance *c = calloc(1, sizeof *c);
	tac_vec3 *normals = malloc((size_t)def->vertex_count * sizeof *normals);
	double *area = calloc((size_t)def->node_count, sizeof *area);
	compliance_levels levels = {0};
	if (!c || !normals || !area)
		result = out_of_memory(def->name);
	else if (!surface_of(def, normals, area))
		result = refuse(def, "every node in a triangle, and a surface without folds");
	else if (tac_compliance_build_levels(&header, def->vertices, normals, area, &levels) != TAC_OK)
		result = out_of_memory(def->name);
	else
		result = build_image(def, &header, &levels, normals, c);
	tac_compliance_release_levels(&levels);
	free(normals);
	free(area);
	if (result == TAC_OK)
		*out_compliance = c;
	else
		tac_compliance_destroy(&c);
	return result;
}

tac_result tac_compliance_write(const tac_compliance *compliance, const char *path)
{
	tac_output *output;
	const tac_result result = tac_output_create(path, "tissue", &output);
	if (result != TAC_OK)
		return result;
	fwrite(compliance->image, 1, compliance->image_bytes, tac_output_file(output));
	return tac_output_commit(&output);
}

static tac_result unreadable(const char *path, const char *expected, const char *found, tac_result result)
{
	tac_log(TAC_LOG_ERROR, "tissue: expected %s in %s, found %s", expected, path, found);
	return result;
}

static tac_result map_file(int fd, const char *path, void **out_image, size_t *out_size)
{
	struct stat status;
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		return unreadable(path, "a compliance", "no regular file", TAC_ERROR_IO);
	if (status.st_size < (off_t)sizeof(compliance_header))
		return unreadable(path, "a compliance", "a truncated file", TAC_ERROR_FORMAT);
	*out_size = (size_t)status.st_size;
	*out_image = mmap(NULL, *out_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (*out_image == MAP_FAILED)
		return unreadable(path, "to map a compliance", strerror(errno), TAC_ERROR_MEMORY);
	return TAC_OK;
}

tac_result tac_compliance_open_fd(int fd, const char *path, uint64_t hash, tac_compliance **out_compliance)
{
	*out_compliance = NULL;
	void *image;
	size_t size;
	const tac_result result = map_file(fd, path, &image, &size);
	if (result != TAC_OK)
		return result;
	tac_compliance *c = calloc(1, sizeof *c);
	if (!c) {
		munmap(image, size);
		return out_of_memory(path);
	}
	uint64_t checksum;
	memcpy(&checksum, (char *)image + offsetof(compliance_header, checksum), sizeof checksum);
	const char *wrong = tac_compliance_attach(c, image, size);
	if (!wrong && checksum != tac_compliance_checksum(image, size))
		wrong = "a corrupt file: its checksum differs";
	if (!wrong && c->hash != hash)
		wrong = "that of another body";
	c->image = image;
	c->image_bytes = size;
	if (wrong) {
		tac_compliance_destroy(&c);
		return unreadable(path, "a compliance", wrong, TAC_ERROR_FORMAT);
	}
	c->locked = mlock(image, size) == 0;
	*out_compliance = c;
	return TAC_OK;
}

tac_result tac_compliance_open(const char *path, uint64_t hash, tac_compliance **out_compliance)
{
	*out_compliance = NULL;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return unreadable(path, "a compliance", strerror(errno), TAC_ERROR_IO);
	const tac_result result = tac_compliance_open_fd(fd, path, hash, out_compliance);
	close(fd);
	return result;
}

void tac_compliance_destroy(tac_compliance **compliance)
{
	if (*compliance && (*compliance)->image)
		munmap((*compliance)->image, (*compliance)->image_bytes);
	free(*compliance);
	*compliance = NULL;
}
