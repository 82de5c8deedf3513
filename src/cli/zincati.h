/* The file by which Zincati (the updater of Fedora CoreOS) asks a FleetLock service before it
 * reboots its machine. */
#ifndef CLI_ZINCATI_H
#define CLI_ZINCATI_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

#define ZINCATI_PATH "/etc/zincati/config.d/reboot-manager.toml"

/* Appends the address of a Service (the object) as nodes reach it: by its cluster IP, since nodes
 * need not know the names of the cluster. `called` is what to call it in messages. With a slash at
 * its end: without one Zincati would drop the last part. -EINVAL: it has no such address. */
int zincati_url(const json_t *service, const char *called, bool https, struct str *out,
                struct err *err);
/* The same from an address that somebody has written. */
int zincati_check_url(const char *url, struct str *out, struct err *err);

/* Appends the file, with where it belongs as a comment. */
void zincati_file(const char *url, struct str *out);

#endif
