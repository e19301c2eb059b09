#include "apps/session/task_file.h"

#include "apps/session/json.h"
#include "base/version.h"

#include <math.h>
#include <string.h>

bool task_file_open(const char *path, task_file *out_file)
{
	*out_file = (task_file){.path = path};
	return !path || tac_output_create(path, "task", &out_file->output) >= TAC_OK;
}

static void write_number(FILE *f, double value)
{
	if (isfinite(value))
		fprintf(f, "%.9g", value);
	else
		fputs("null", f);
}

static void write_json_tool(FILE *f, const tac_world *world, int32_t tool, const tac_task_figures *figures)
{
	tac_task_row rows[TAC_TASK_ROWS];
	const int32_t count = tac_task_list(figures, world, tool, rows);
	fprintf(f, "    {\"name\": ");
	json_print_string(f, world->scene->tools[tool].name);
	fprintf(f, ", \"passed\": %s, \"figures\": [", figures->passed ? "true" : "false");
	for (int32_t i = 0; i < count; i++) {
		fprintf(f, "%s\n      {\"name\": ", i ? "," : "");
		json_print_string(f, rows[i].name);
		fprintf(f, ", \"unit\": \"%s\", \"value\": ", rows[i].unit);
		write_number(f, rows[i].value);
		fputs(", \"limit\": ", f);
		write_number(f, rows[i].limit);
		fprintf(f, ", \"at_least\": %s, \"exceeded\": %s}", rows[i].at_least ? "true" : "false",
			rows[i].exceeded ? "true" : "false");
	}
	fputs("]}", f);
}

static void write_json(FILE *f, const tac_world *world, const tac_task_figures *const *figures, int32_t count)
{
	fputs("{\n  \"scene\": ", f);
	json_print_string(f, world->scene->name);
	fprintf(f, ", \"tactus\": \"%s\",\n  \"tools\": [\n", tac_version());
	for (int32_t i = 0; i < count; i++) {
		write_json_tool(f, world, i, figures[i]);
		fputs(i + 1 < count ? ",\n" : "\n", f);
	}
	fputs("  ]\n}\n", f);
}

// Names of scenes may contain commas and quotation marks.
static void write_csv_text(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', f);
		fputc(*text, f);
	}
	fputc('"', f);
}

static void write_csv(FILE *f, const tac_world *world, const tac_task_figures *const *figures, int32_t count)
{
	fputs("tool,name,unit,value,limit,at_least,exceeded\n", f);
	for (int32_t i = 0; i < count; i++) {
		tac_task_row rows[TAC_TASK_ROWS];
		const int32_t row_count = tac_task_list(figures[i], world, i, rows);
		for (int32_t k = 0; k < row_count; k++) {
			write_csv_text(f, world->scene->tools[i].name);
			fputc(',', f);
			write_csv_text(f, rows[k].name);
			fprintf(f, ",%s,", rows[k].unit);
			if (isfinite(rows[k].value))
				fprintf(f, "%.9g", rows[k].value);
			fputc(',', f);
			if (isfinite(rows[k].limit))
				fprintf(f, "%.9g", rows[k].limit);
			fprintf(f, ",%d,%d\n", rows[k].at_least, rows[k].exceeded);
		}
	}
}

bool task_file_write(task_file *file, const tac_world *world, const tac_task_figures *const *figures,
		     int32_t count)
{
	if (!file->output)
		return true;
	const size_t length = strlen(file->path);
	const bool csv = length > 4 && strcmp(file->path + length - 4, ".csv") == 0;
	(csv ? write_csv : write_json)(tac_output_file(file->output), world, figures, count);
	return tac_output_commit(&file->output) >= TAC_OK;
}

void task_file_close(task_file *file)
{
	tac_output_discard(&file->output);
}
