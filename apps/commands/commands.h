// The subcommands of `tactus`. Each takes its own name as argv[0] and returns the exit code.
#ifndef TAC_APPS_COMMANDS_COMMANDS_H
#define TAC_APPS_COMMANDS_COMMANDS_H

int cmd_bench(int argc, char **argv);
int cmd_console(int argc, char **argv);
int cmd_devices(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_emulate(int argc, char **argv);
int cmd_latency(int argc, char **argv);
int cmd_mesh(int argc, char **argv);
int cmd_query(int argc, char **argv);
int cmd_render(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_share(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_task(int argc, char **argv);
int cmd_view(int argc, char **argv);

#endif
