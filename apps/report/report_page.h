// Report page: the report as one HTML page.
#ifndef TAC_APPS_REPORT_REPORT_PAGE_H
#define TAC_APPS_REPORT_REPORT_PAGE_H

#include "apps/report/report.h"

#include <stdio.h>

// Write errors remain in `file`. Thread: setup.
void report_page_write(FILE *file, const report *report);

#endif
