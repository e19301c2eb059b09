#include "apps/report/report_data.h"

#include <math.h>

static void json_number(FILE *f, double value)
{
	if (isfinite(value))
		fprintf(f, "%.9g", value);
	else
		fputs("null", f);
}

static void json_series(FILE *f, const char *name, const report_series *s)
{
	fprintf(f, "{\"name\":\"%s\",\"columns\":[\"t_s\",\"samples\"", name);
	for (int c = 0; c < s->channels; c++)
		fprintf(f, ",\"%s_min\",\"%s_mean\",\"%s_max\"", s->names[c], s->names[c], s->names[c]);
	fputs("],\"rows\":[", f);
	const char *comma = "";
	for (int i = 0; i < s->count; i++) {
		if (s->samples[i] == 0)
			continue;
		fprintf(f, "%s[%.6f,%u", comma, report_series_time_s(s, i), s->samples[i]);
		for (int c = 0; c < s->channels; c++) {
			const double values[3] = {s->bins[i][c].min, s->bins[i][c].sum / s->samples[i],
						  s->bins[i][c].max};
			for (int k = 0; k < 3; k++) {
				fputc(',', f);
				json_number(f, values[k]);
			}
		}
		fputs("]", f);
		comma = ",\n";
	}
	fputs("]}", f);
}

static void json_histogram_rows(FILE *f, const char *name, const tac_histogram *h, const char **comma)
{
	for (uint32_t i = 0; i < TAC_HISTOGRAM_BUCKETS; i++) {
		int64_t low_ns, high_ns;
		uint64_t count;
		tac_histogram_bucket(h, i, &low_ns, &high_ns, &count);
		if (count == 0)
			continue;
		fprintf(f, "%s[\"%s\",%lld,%lld,%llu]", *comma, name, (long long)low_ns, (long long)high_ns,
			(unsigned long long)count);
		*comma = ",\n";
	}
}

void report_data_write(FILE *f, const report *r)
{
	fputs("<h2 class=\"screen\">Data</h2>\n<div id=\"downloads\"></div>\n"
	      "<script type=\"application/json\" id=\"data\">\n{\"tables\":[\n",
	      f);
	json_series(f, "ticks", r->ticks);
	if (r->forces) {
		fputs(",\n", f);
		json_series(f, "forces", r->forces);
	}
	fputs(",\n{\"name\":\"histograms\",\"columns\":[\"of\",\"low_ns\",\"high_ns\",\"count\"],\"rows\":[",
	      f);
	const char *comma = "";
	json_histogram_rows(f, "timer", &r->stats->timer, &comma);
	json_histogram_rows(f, "wake", &r->stats->wake, &comma);
	json_histogram_rows(f, "compute", &r->stats->compute, &comma);
	fputs("]},\n{\"name\":\"worst\","
	      "\"columns\":[\"tick\",\"late_ns\",\"cause\",\"phase\",\"wake_ns\",\"compute_ns\"],\"rows\":[",
	      f);
	for (int i = 0; i < r->stats->worst_count; i++) {
		const tac_tick *t = &r->stats->worst[i];
		fprintf(f, "%s[%lld,%lld,\"%s\",\"%s\",%lld,%lld]", i ? ",\n" : "", (long long)t->index,
			(long long)-tac_tick_slack_ns(t), tac_cause_name(t->cause),
			tac_phase_name(t->cause_phase), (long long)tac_tick_wake_ns(t),
			(long long)tac_tick_compute_ns(t));
	}
	fputs("]}\n]}\n</script>\n", f);
}
