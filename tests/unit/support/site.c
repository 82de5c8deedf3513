/* A server and a client of it. */
#include "support/site.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"

void site_init(struct site *s) {
    *s = (struct site){0};
    assert_int_equal(loop_new(&s->loop, NULL), 0);
    s->ca = pki_ca_new("site-ca");
    s->cert = pki_issue(
        s->ca,
        &(struct pki_spec){.cn = "site", .names = "IP:127.0.0.1,DNS:localhost,DNS:site.example"});
    snprintf(s->dir, sizeof s->dir, "/tmp/slipway-site-XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    assert_int_equal(pipe2(s->log_fd, O_CLOEXEC | O_NONBLOCK), 0);
    s->log = (struct log){.level = LOG_DEBUG, .fd = s->log_fd[1]};
}

void site_serve(struct site *s, bool plain, const struct server_options *opts) {
    struct server_options o = *opts;
    if (!plain && !o.cert) {
        o.cert = s->cert.cert;
        o.key = s->cert.key;
    }
    s->server = server_start(&o);
    s->config.server = server_url(s->server, NULL);
    if (!plain)
        s->config.ca.data = (char *)pki_ca_pem(s->ca);
}

void site_connect(struct site *s, bool auth, const struct kube_curl_options *opts) {
    struct err err = ERR_INIT;
    if (auth)
        s->auth = kube_auth_new(s->loop, &s->config, &s->log);
    if (kube_transport_curl_new(s->loop, &s->config, s->auth, opts, &s->log, &s->t, &err) < 0)
        fail_msg("%s", err_msg(&err));
}

void site_start(struct site *s, server_fn *handle, void *arg) {
    site_init(s);
    site_serve(s, false, &(struct server_options){.handle = handle, .arg = arg});
    site_connect(s, false, NULL);
}

void site_done(struct site *s) {
    kube_transport_free(s->t);
    kube_auth_free(s->auth);
    server_stop(s->server);
    loop_free(s->loop);
    free(s->config.server);
    pki_pair_done(&s->cert);
    pki_ca_free(s->ca);
    close(s->log_fd[0]);
    close(s->log_fd[1]);
    DIR *d = opendir(s->dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        _cleanup_free_ char *path = xasprintf("%s/%s", s->dir, e->d_name);
        unlink(path);
    }
    if (d)
        closedir(d);
    rmdir(s->dir);
}

char *site_file(struct site *s, const char *name, const char *text) {
    char *path = xasprintf("%s/%s", s->dir, name);
    _cleanup_free_ char *tmp = xasprintf("%s.new", path);
    FILE *f = fopen(tmp, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rename(tmp, path), 0);
    return path;
}

char *site_logged(struct site *s) {
    char buf[8192];
    ssize_t n = read(s->log_fd[0], buf, sizeof buf);
    return xstrndup(buf, n > 0 ? (size_t)n : 0);
}
