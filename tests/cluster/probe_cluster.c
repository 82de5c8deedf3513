/* What the probe's commands against a cluster share. */
#include "probe_cluster.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { GROUPS_MAX = 8 };

const char *probe_option(int *argc, char **argv, const char *name) {
    for (int i = 1; i + 1 < *argc; i++) {
        if (!streq(argv[i], name))
            continue;
        const char *value = argv[i + 1];
        memmove(argv + i, argv + i + 2, (size_t)(*argc - i - 1) * sizeof *argv);
        *argc -= 2;
        return value;
    }
    return NULL;
}

bool probe_flag(int *argc, char **argv, const char *name) {
    for (int i = 1; i < *argc; i++) {
        if (!streq(argv[i], name))
            continue;
        memmove(argv + i, argv + i + 1, (size_t)(*argc - i) * sizeof *argv);
        *argc -= 1;
        return true;
    }
    return false;
}

void probe_connect(struct probe *p, int *argc, char **argv) {
    static const char *groups[GROUPS_MAX + 1];
    for (size_t n = 0; n < GROUPS_MAX && (groups[n] = probe_option(argc, argv, "--as-group")); n++)
        ;
    struct kube_config_flags flags = {
        .as_groups = groups[0] ? groups : NULL,
        .cluster = probe_option(argc, argv, "--cluster"),
        .user = probe_option(argc, argv, "--user"),
        .certificate_authority = probe_option(argc, argv, "--certificate-authority"),
        .tls_server_name = probe_option(argc, argv, "--tls-server-name"),
        .proxy_url = probe_option(argc, argv, "--proxy-url"),
        .insecure = probe_flag(argc, argv, "--insecure-skip-tls-verify"),
        .as_uid = probe_option(argc, argv, "--as-uid"),
        .kubeconfig = probe_option(argc, argv, "--kubeconfig"),
        .context = probe_option(argc, argv, "--context"),
        .server = probe_option(argc, argv, "--server"),
        .token = probe_option(argc, argv, "--token"),
        .token_file = probe_option(argc, argv, "--token-file"),
        .as_user = probe_option(argc, argv, "--as"),
    };
    const char *level = probe_option(argc, argv, "-v");
    struct kube_curl_options opts = {
        .user_agent = "slipway-probe",
        .http2 = probe_flag(argc, argv, "--http2"),
    };
    _cleanup_err_ struct err err = ERR_INIT;
    *p = (struct probe){.log = {.level = level ? (enum log_level)atoi(level) : LOG_WARN, .fd = 2}};
    if (loop_new(&p->loop, &err) || kube_connect(p->loop, &flags, &opts, &p->log, &p->conn, &err)) {
        fprintf(stderr, "probe: %s\n", err_msg(&err));
        exit(4);
    }
}

struct probe_input {
    void (*fn)(void *arg, char *line);
    void *arg;
    struct str buf;
    struct event *event;
};

static void input_free(struct probe_input *in) {
    if (!in)
        return;
    event_free(in->event);
    str_done(&in->buf);
    free(in);
}

void probe_disconnect(struct probe *p) {
    input_free(p->input);
    kube_connection_done(&p->conn);
    loop_free(p->loop);
}

void probe_print(struct str *line) {
    puts(str_get(line));
    fflush(stdout);
    str_reset(line);
}

static void on_input(evutil_socket_t fd, short what, void *arg) {
    (void)what;
    struct probe_input *in = arg;
    char chunk[4096];
    ssize_t n = read(fd, chunk, sizeof chunk);
    if (n <= 0) {
        event_del(in->event);
        in->fn(in->arg, NULL);
        return;
    }
    str_addn(&in->buf, chunk, (size_t)n);
    char *end;
    while ((end = strchr(str_get(&in->buf), '\n'))) {
        size_t len = (size_t)(end - in->buf.p);
        _cleanup_free_ char *line = xstrndup(in->buf.p, len);
        str_drop(&in->buf, len + 1);
        in->fn(in->arg, line);
    }
}

void probe_stdin(struct probe *p, void (*fn)(void *arg, char *line), void *arg) {
    struct probe_input *in = p->input = xnew(struct probe_input);
    in->fn = fn;
    in->arg = arg;
    in->event = event_new(loop_base(p->loop), 0, EV_READ | EV_PERSIST, on_input, in);
    event_add(in->event, NULL);
}
