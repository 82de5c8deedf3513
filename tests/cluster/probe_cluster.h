/* What the probe's commands against a cluster share: options and the connection. */
#ifndef PROBE_CLUSTER_H
#define PROBE_CLUSTER_H

#include "kube/connect.h"

struct probe_input;

struct probe {
    struct loop *loop;
    struct probe_input *input;
    struct log log;
    struct kube_connection conn;
};

/* Options that every command knows: --kubeconfig --context --server --token ... (as kubectl's), -v
 * LEVEL. Removes them from argv and connects. Exits on failure. */
void probe_connect(struct probe *p, int *argc, char **argv);
void probe_disconnect(struct probe *p);
/* The value of `--name value`, removed from argv; NULL when it is not there. */
const char *probe_option(int *argc, char **argv, const char *name);
bool probe_flag(int *argc, char **argv, const char *name);
/* Writes a line of JSON at once. */
void probe_print(struct str *line);
/* Calls fn with each line of standard input, and with NULL at its end. */
void probe_stdin(struct probe *p, void (*fn)(void *arg, char *line), void *arg);

#endif
