/* Zincati's configuration. */
#include "cli/zincati.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"

enum { URL_LEN = 2048 }; /* more is no address */

static bool is_named(const json_t *port, const char *name) {
    const char *has = json_str(port, "name");
    return has && streq(has, name);
}

/* The port of that number, else that of that name; 0: neither. */
static int port_of(const json_t *ports, int number, const char *name) {
    size_t i;
    json_t *port;
    int named = 0;
    json_array_foreach(ports, i, port) {
        int has = (int)json_integer_value(json_object_get(port, "port"));
        if (has == number)
            return number;
        if (is_named(port, name))
            named = has;
    }
    return named;
}

int zincati_url(const json_t *service, const char *called, bool https, struct str *out,
                struct err *err) {
    const json_t *spec = json_object_get(service, "spec");
    const char *ip = json_str(spec, "clusterIP"), *scheme = https ? "https" : "http";
    int usual = https ? 443 : 80;
    if (str_empty(ip) || streq(ip, "None"))
        return err_set(err, EINVAL,
                       "Service %s has no cluster IP, by which nodes could reach it; give the "
                       "address that they shall use with --url",
                       called);
    int port = port_of(json_object_get(spec, "ports"), usual, scheme);
    if (!port)
        return err_set(err, EINVAL,
                       "Service %s has no port %d, nor one that is called %s; give the address "
                       "that nodes shall use with --url",
                       called, usual, scheme);
    bool v6 = strchr(ip, ':') != NULL;
    str_addf(out, "%s://%s%s%s", scheme, v6 ? "[" : "", ip, v6 ? "]" : "");
    if (port != usual)
        str_addf(out, ":%d", port);
    str_addc(out, '/');
    return 0;
}

/* ${group} and the like are Zincati's, and it fills them in. */
int zincati_check_url(const char *url, struct str *out, struct err *err) {
    const char *host = str_starts(url, "http://")    ? url + strlen("http://")
                       : str_starts(url, "https://") ? url + strlen("https://")
                                                     : NULL;
    if (!host || !*host || strchr("/:?#", *host))
        return err_set(err, EINVAL, "\"%s\" is no address such as http://10.3.0.15/", url);
    if (strlen(url) > URL_LEN)
        return err_set(err, EINVAL, "the address is longer than %d characters", URL_LEN);
    for (const char *p = url; *p; p++)
        if (*p <= ' ' || *p > '~' || strchr("\"\\?#", *p))
            return err_set(err, EINVAL,
                           "\"%s\" has something in it that an address to which paths are added "
                           "cannot have: blanks, quotes, ? or #",
                           url);
    str_addf(out, "%s%s", url, url[strlen(url) - 1] == '/' ? "" : "/");
    return 0;
}

void zincati_file(const char *url, struct str *out) {
    str_add(out, "# " ZINCATI_PATH ", on each node\n"
                 "\n"
                 "# How to finalize update.\n"
                 "[updates]\n"
                 "# Update strategy which uses an external reboot coordinator (FleetLock "
                 "protocol).\n"
                 "strategy = \"fleet_lock\"\n"
                 "\n"
                 "# Base URL for the FleetLock service.\n");
    str_addf(out, "fleet_lock.base_url = \"%s\"\n", url);
}
