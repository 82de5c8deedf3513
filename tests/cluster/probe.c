/* The probe: picks the command. */
#include "probe.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"tables", probe_tables}, {"decode", probe_decode}, {"watch", probe_watch},
    {"write", probe_write},   {"lease", probe_lease},   {"call", probe_call},
    {"fit", probe_fit},       {"own", probe_own},
};

int main(int argc, char **argv) {
    for (size_t i = 0; argc > 1 && i < ARRAY_LEN(commands); i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "usage: probe COMMAND ...; commands:");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        fprintf(stderr, " %s", commands[i].name);
    fprintf(stderr, "\n");
    return 64;
}
