#include "tissue/compliance/cluster.h"

#include "base/log.h"
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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
		return refuse(def, "1 to 10000 nodes");
	if (def->vertex_count < def->node_count || def->vertex_count > 4 * TAC_COMPLIANCE_NODES_MAX ||
	    def->triangle_count < 1 || def->triangle_count > 8 * TAC_COMPLIANCE_NODES_MAX)
		return refuse(def, "a surface of at most 40000 vertices and 80000 triangles");
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

// ---- columns of a closed form ----

static tac_dmat3 block_of(const tac_compliance_def *def, int32_t i, int32_t j)
{
	if (i >= j)
		return def->block(def->block_user, i, j);
	return tac_dmat3_transpose(def->block(def->block_user, j, i));
}

// For compliance_source.columns.
static bool closed_columns(const void *user, const compliance_levels *levels, const int32_t *points,
			   int32_t count, int32_t from, float *out)
{
	(void)from;
	const tac_compliance_def *def = user;
	for (int32_t i = 0; i < def->node_count; i++) {
		for (int32_t k = 0; k < count; k++) {
			const int32_t *start = &levels->spread_start[points[k]];
			tac_dmat3 sum = {0};
			for (int32_t n = start[0]; n < start[1]; n++)
				sum = tac_dmat3_add(sum,
						    tac_dmat3_scale(block_of(def, i, levels->spread_node[n]),
								    (double)levels->spread_weight[n]));
			float *block = out + 9 * ((size_t)i * (size_t)count + (size_t)k);
			for (int e = 0; e < 9; e++)
				block[e] = (float)sum.m[e / 3][e % 3];
		}
	}
	return true;
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

// Writes the clusters and their numbers.
static void fill_clusters(const compliance_clusters *clusters, const compliance_pairs *pairs, size_t points,
			  const compliance_layout *at, char *image)
{
	int32_t *size = (int32_t *)(void *)(image + at->cluster_size);
	tac_compliance_place *place = (tac_compliance_place *)(void *)(image + at->place);
	uint32_t *pair = (uint32_t *)(void *)(image + at->pairs), unit = 0;
	for (int32_t a = 0; a < clusters->count; a++) {
		size[a] = clusters->start[a + 1] - clusters->start[a];
		for (int32_t i = 0; i < size[a]; i++)
			place[clusters->point[clusters->start[a] + i]] =
				(tac_compliance_place){(uint16_t)a, (uint16_t)i};
	}
	for (int32_t a = 0, k = 0; a < clusters->count; a++) {
		for (int32_t b = 0; b <= a; b++, k++) {
			const uint32_t units = tac_compliance_pair_units(pairs->far[k], size[a], size[b]);
			memcpy(image + at->blocks + (size_t)unit * COMPLIANCE_UNIT * sizeof(float),
			       pairs->numbers[k], (size_t)units * COMPLIANCE_UNIT * sizeof(float));
			pair[k] = unit | (pairs->far[k] ? TAC_COMPLIANCE_FAR : 0);
			unit += units;
		}
	}
	if (pairs->basis)
		memcpy(image + at->basis, pairs->basis,
		       points * 3 * TAC_COMPLIANCE_RANK * sizeof *pairs->basis);
}

static uint32_t all_units(const compliance_clusters *clusters, const compliance_pairs *pairs)
{
	uint32_t units = 0;
	for (int32_t a = 0, k = 0; a < clusters->count; a++) {
		for (int32_t b = 0; b <= a; b++, k++)
			units += tac_compliance_pair_units(pairs->far[k],
							   clusters->start[a + 1] - clusters->start[a],
							   clusters->start[b + 1] - clusters->start[b]);
	}
	return units;
}

static tac_result out_of_range(const tac_compliance_def *def, const char *found)
{
	tac_log(TAC_LOG_ERROR, "compliance of %s: expected numbers in range, found %s",
		def->name ? def->name : "a body", found);
	return TAC_ERROR_ARGUMENT;
}

static tac_result build_image(const tac_compliance_def *def, compliance_header *header,
			      const compliance_levels *levels, const tac_vec3 *normals,
			      const compliance_clusters *clusters, const compliance_pairs *pairs,
			      tac_compliance *c)
{
	compliance_layout at;
	header->cluster_count = clusters->count;
	header->has_basis = pairs->basis != NULL;
	header->block_units = all_units(clusters, pairs);
	header->far_error = pairs->far_error;
	if (!tac_compliance_lay_out(header, &at))
		return refuse(def, "a surface whose nodes lie apart");
	char *image = allocate_image(at.size);
	if (!image)
		return out_of_memory(def->name);
	header->size = at.size;
	memcpy(image, header, sizeof *header);
	fill_arrays(def, levels, normals, &at, image);
	fill_clusters(clusters, pairs, (size_t)levels->point_count, &at, image);
	c->image = image;
	c->image_bytes = at.size;
	c->file = -1;
	const char *wrong = tac_compliance_attach(c, image, at.size);
	if (wrong)
		return out_of_range(def, wrong);
	header->checksum = tac_compliance_checksum(image, at.size);
	memcpy(image, header, sizeof *header);
	return TAC_OK;
}

// The numbers between all points, and the image of everything.
static tac_result compute(const tac_compliance_def *def, const compliance_source *source,
			  compliance_header *header, const compliance_levels *levels, const tac_vec3 *normals,
			  tac_compliance *c)
{
	compliance_clusters clusters;
	compliance_pairs pairs;
	const char *wrong;
	if (!tac_compliance_cluster(header, levels, def->vertices, source->order, &clusters))
		return out_of_memory(def->name);
	tac_result result =
		tac_compliance_compute(header, levels, def->vertices, &clusters, source, &pairs, &wrong);
	if (result == TAC_OK)
		result = build_image(def, header, levels, normals, &clusters, &pairs, c);
	else if (result == TAC_ERROR_ARGUMENT)
		out_of_range(def, wrong);
	else
		out_of_memory(def->name);
	tac_compliance_release_pairs(&clusters, &pairs);
	tac_compliance_release_clusters(&clusters);
	return result;
}

tac_result tac_compliance_build(const tac_compliance_def *def, const compliance_source *given,
				tac_compliance **out_compliance)
{
	*out_compliance = NULL;
	tac_result result = check(def);
	if (result != TAC_OK)
		return result;
	compliance_source source = *given;
	source.exact =
		def->node_count <= (def->exact_nodes > 0 ? def->exact_nodes : TAC_COMPLIANCE_EXACT_NODES);
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
		result = compute(def, &source, &header, &levels, normals, c);
	tac_compliance_release_levels(&levels);
	free(normals);
	free(area);
	if (result == TAC_OK)
		*out_compliance = c;
	else
		tac_compliance_destroy(&c);
	return result;
}

tac_result tac_compliance_create(const tac_compliance_def *def, tac_compliance **out_compliance)
{
	const compliance_source source = {.user = def, .columns = closed_columns, .threads = 1};
	return tac_compliance_build(def, &source, out_compliance);
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
	c->file = -1;
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
	// Without a lock, on a file system that has none, the file may be removed while it is mapped, which
	// does it no harm.
	(void)!flock(fd, LOCK_SH | LOCK_NB);
	const tac_result result = tac_compliance_open_fd(fd, path, hash, out_compliance);
	if (result == TAC_OK)
		(*out_compliance)->file = fd;
	else
		close(fd);
	return result;
}

void tac_compliance_destroy(tac_compliance **compliance)
{
	if (*compliance && (*compliance)->image) {
		munmap((*compliance)->image, (*compliance)->image_bytes);
		if ((*compliance)->file >= 0)
			close((*compliance)->file);
	}
	free(*compliance);
	*compliance = NULL;
}
