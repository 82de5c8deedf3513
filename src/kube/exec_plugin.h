/* Exec credential plugins (client.authentication.k8s.io/v1 and v1beta1): one run of one.
 *
 * A plugin is a program that prints an ExecCredential with a token, a client certificate, or both.
 * It is told about the cluster through $KUBERNETES_EXEC_INFO. When it may talk to a person
 * (interactiveMode, and standard input is a terminal) it gets our standard input and standard
 * error; else its standard error goes to the log line by line as it comes, since "open this URL in
 * a browser" must be read before the plugin can end; where warnings are not logged, the message of
 * its failure has the first line of it. Its output is bounded, so are the lines that are logged,
 * and so is its time.
 *
 * When to run it and how long to keep what it said is not decided here: kube/auth.h. */
#ifndef KUBE_EXEC_PLUGIN_H
#define KUBE_EXEC_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "kube/config.h"
#include "net/loop.h"

/* What a plugin gave. */
struct exec_cred {
    char *token;              /* or NULL */
    char *cert_pem, *key_pem; /* both or none; they belong together */
    int64_t expires;          /* wall clock, microseconds; 0: it does not say */
};
void exec_cred_done(struct exec_cred *cred); /* wipes */

struct exec_run;

/* Exactly one of cred and err is not NULL. The receiver may take the strings out of `cred`. */
typedef void exec_fn(void *arg, struct exec_cred *cred, const struct err *err);

/* How plugins are run; tests of kube/auth put another one in its place. */
struct exec_ops {
    /* Runs config->exec. What fails at once is returned, and fn is not called then. */
    int (*start)(struct loop *loop, const struct kube_config *config, const struct log *log,
                 exec_fn *fn, void *arg, struct exec_run **out, struct err *err);
    /* Kills it; fn is not called. Valid until fn was called; takes NULL. */
    void (*cancel)(struct exec_run *run);
};

extern const struct exec_ops exec_plugin_ops;

/* The parts, for tests. */

/* The value of $KUBERNETES_EXEC_INFO. Reads the CA file when the plugin is to know the cluster. */
int exec_plugin_info(const struct kube_config *config, bool interactive, char **out,
                     struct err *err);
/* Reads what a plugin printed. Unknown members are passed over, as everywhere in Kubernetes. */
int exec_plugin_parse(const struct kube_exec *x, const char *text, size_t len,
                      struct exec_cred *out, struct err *err);

#endif
