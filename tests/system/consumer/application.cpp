#include "application.c"
