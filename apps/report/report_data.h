// Report data: the tables behind a report's plots, embedded in the page as JSON. The page's script offers
// each of them as a CSV file.
#ifndef TAC_APPS_REPORT_REPORT_DATA_H
#define TAC_APPS_REPORT_REPORT_DATA_H

#include "apps/report/report.h"

#include <stdio.h>

// Writes the section with the download buttons and the script element that holds the tables.
void report_data_write(FILE *file, const report *report);

#endif
