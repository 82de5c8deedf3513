/* The columns of the core group's kinds but pods and volumes: nodes, namespaces, events, services,
 * configuration. */
#include <inttypes.h>

#include "base/utf8.h"
#include "base/vec.h"
#include "sim/api/human.h"
#include "sim/api/table_internal.h"

/* --- nodes --- */

static void cell_node_status(struct api_row *row, const void *unused) {
    (void)unused;
    const char *status = "Unknown";
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(row->status, "conditions"), i, c) {
        if (streq(json_text_of(c, "type"), "Ready")) /* the last one counts */
            status = streq(json_text_of(c, "status"), "True") ? "Ready" : "NotReady";
    }
    str_reset(&row->text);
    str_add(&row->text, status);
    if (json_is_true(json_object_get(row->spec, "unschedulable")))
        str_add(&row->text, ",SchedulingDisabled");
    jsonw_str(row->w, str_get(&row->text));
}

static void cell_node_roles(struct api_row *row, const void *unused) {
    (void)unused;
    static const char prefix[] = "node-role.kubernetes.io/";
    VEC(const char *) roles = VEC_INIT;
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(row->meta, "labels"), key, value) {
        const char *role = "";
        if (str_starts(key, prefix))
            role = key + sizeof prefix - 1;
        else if (streq(key, "kubernetes.io/role"))
            role = json_text(value);
        if (*role)
            *vec_push(&roles) = role;
    }
    cell_sorted(row, roles.p, roles.len, true, "<none>");
    vec_done(&roles);
}

static void cell_node_address(struct api_row *row, const void *type) {
    size_t i;
    json_t *address;
    json_array_foreach(json_object_get(row->status, "addresses"), i, address) {
        if (streq(json_text_of(address, "type"), type)) {
            jsonw_str(row->w, json_text_of(address, "address"));
            return;
        }
    }
    jsonw_str(row->w, "<none>");
}

static void cell_node_info(struct api_row *row, const void *key) {
    const char *text = json_text_of(json_object_get(row->status, "nodeInfo"), key);
    jsonw_str(row->w, *text ? text : "<unknown>");
}

static void cell_node_kernel(struct api_row *row, const void *unused) {
    (void)unused;
    const json_t *info = json_object_get(row->status, "nodeInfo");
    const char *kernel = json_text_of(info, "kernelVersion");
    const char *architecture = json_text_of(info, "architecture");
    str_reset(&row->text);
    str_add(&row->text, *kernel ? kernel : "<unknown>");
    if (*architecture)
        str_addf(&row->text, " (%s)", architecture);
    jsonw_str(row->w, str_get(&row->text));
}

static const struct api_column node_columns[] = {
    COLUMN_NAME,
    {"Status", "string", "", 0, cell_node_status, NULL, NULL},
    {"Roles", "string", "", 0, cell_node_roles, NULL, NULL},
    COLUMN_AGE,
    {"Version", "string", "", 0, cell_string, "status.nodeInfo.kubeletVersion", NULL},
    {"Internal-IP", "string", "", 1, cell_node_address, "InternalIP", NULL},
    {"External-IP", "string", "", 1, cell_node_address, "ExternalIP", NULL},
    {"OS-Image", "string", "", 1, cell_node_info, "osImage", NULL},
    {"Kernel-Version", "string", "", 1, cell_node_kernel, NULL, NULL},
    {"Container-Runtime", "string", "", 1, cell_node_info, "containerRuntimeVersion", NULL},
};

/* --- events --- */

static const json_t *first_seen(const struct api_row *row) {
    int64_t t;
    const json_t *first = json_object_get(row->object, "firstTimestamp");
    return human_time(first, &t) ? first : json_object_get(row->object, "eventTime");
}

/* NULL when it is no series. */
static const json_t *series(const struct api_row *row) {
    const json_t *found = json_object_get(row->object, "series");
    return json_is_object(found) ? found : NULL;
}

static void cell_event_first(struct api_row *row, const void *unused) {
    (void)unused;
    char buf[TIMEFMT_LEN];
    jsonw_str(row->w, human_since(row->now, first_seen(row), buf));
}

static void cell_event_last(struct api_row *row, const void *unused) {
    (void)unused;
    char buf[TIMEFMT_LEN];
    int64_t t;
    const json_t *last = json_object_get(row->object, "lastTimestamp");
    if (series(row))
        last = json_object_get(series(row), "lastObservedTime");
    else if (!human_time(last, &t))
        last = first_seen(row);
    jsonw_str(row->w, human_since(row->now, last, buf));
}

static void cell_event_count(struct api_row *row, const void *unused) {
    (void)unused;
    json_int_t count = json_integer_value(json_object_get(row->object, "count"));
    if (series(row))
        count = json_integer_value(json_object_get(series(row), "count"));
    else if (!count)
        count = 1; /* single events of the new API have none */
    jsonw_int(row->w, count);
}

/* Kinds are ASCII; other letters stay as they are. */
static void add_lower(struct str *out, const char *s) {
    for (; *s; s++)
        str_addc(out, *s >= 'A' && *s <= 'Z' ? (char)(*s + 32) : *s);
}

static void cell_event_object(struct api_row *row, const void *unused) {
    (void)unused;
    const json_t *object = json_object_get(row->object, "involvedObject");
    const char *name = json_text_of(object, "name");
    str_reset(&row->text);
    add_lower(&row->text, json_text_of(object, "kind"));
    if (*name)
        str_addf(&row->text, "/%s", name);
    jsonw_str(row->w, str_get(&row->text));
}

static void cell_event_source(struct api_row *row, const void *unused) {
    (void)unused;
    const json_t *source = json_object_get(row->object, "source");
    const char *component = json_text_of(source, "component");
    const char *host = json_text_of(source, "host");
    if (!*component)
        component = json_text_of(row->object, "reportingComponent");
    if (!*host)
        host = json_text_of(row->object, "reportingInstance");
    str_reset(&row->text);
    str_add(&row->text, component);
    if (*host)
        str_addf(&row->text, ", %s", host);
    jsonw_str(row->w, str_get(&row->text));
}

/* Unicode's White_Space, which Go trims. */
static bool is_space(uint32_t c) {
    return (c >= '\t' && c <= '\r') || c == ' ' || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

static void cell_event_message(struct api_row *row, const void *unused) {
    (void)unused;
    const json_t *value = json_object_get(row->object, "message");
    const char *text = json_text(value);
    size_t end = json_string_length(value), begin = end, stop = 0;
    for (size_t i = 0, n; i < end; i += n) {
        n = utf8_len(text + i, end - i);
        if (n && is_space(utf8_decode(text + i, n)))
            continue;
        n = n ? n : 1;
        begin = MIN_OF(begin, i);
        stop = i + n;
    }
    jsonw_strn(row->w, text + begin, stop > begin ? stop - begin : 0);
}

static const struct api_column event_columns[] = {
    {"Last Seen", "string", "", 0, cell_event_last, NULL, NULL},
    {"Type", "string", "", 0, cell_string, "type", NULL},
    {"Reason", "string", "", 0, cell_string, "reason", NULL},
    {"Object", "string", "", 0, cell_event_object, NULL, NULL},
    {"Subobject", "string", "", 1, cell_string, "involvedObject.fieldPath", NULL},
    {"Source", "string", "", 1, cell_event_source, NULL, NULL},
    {"Message", "string", "", 0, cell_event_message, NULL, NULL},
    {"First Seen", "string", "", 1, cell_event_first, NULL, NULL},
    {"Count", "string", "", 1, cell_event_count, NULL, NULL},
    {"Name", "string", "name", 1, cell_name, NULL, NULL},
};

/* --- services and their endpoints --- */

/* Services of before 1.20 have only clusterIP; the server fills the other in when it reads one. */
static void cell_service_ip(struct api_row *row, const void *unused) {
    (void)unused;
    const char *ip = json_text(json_array_get(json_object_get(row->spec, "clusterIPs"), 0));
    if (!*ip)
        ip = json_text_of(row->spec, "clusterIP");
    jsonw_str(row->w, *ip ? ip : "<none>");
}

/* The addresses of a load balancer, each once, sorted. */
static void add_ingress(struct str *out, const json_t *ingress) {
    VEC(const char *) list = VEC_INIT;
    size_t i;
    json_t *one;
    json_array_foreach(ingress, i, one) {
        const char *text = json_text_of(one, "ip");
        if (!*text)
            text = json_text_of(one, "hostname");
        if (*text)
            *vec_push(&list) = text;
    }
    if (list.len)
        qsort(list.p, list.len, sizeof *list.p, compare_strings);
    for (i = 0; i < list.len; i++) {
        if (i && streq(list.p[i - 1], list.p[i]))
            continue;
        if (i)
            str_addc(out, ',');
        str_add(out, list.p[i]);
    }
    vec_done(&list);
}

static void cell_service_external(struct api_row *row, const void *unused) {
    (void)unused;
    const char *type = json_text_of(row->spec, "type"), *none = "<none>";
    size_t i;
    json_t *ip;
    str_reset(&row->text);
    if (streq(type, "ExternalName")) {
        jsonw_str(row->w, json_text_of(row->spec, "externalName"));
        return;
    }
    if (streq(type, "LoadBalancer")) {
        none = "<pending>";
        add_ingress(&row->text, json_at(row->status, "loadBalancer.ingress"));
    } else if (!streq(type, "ClusterIP") && !streq(type, "NodePort")) {
        jsonw_str(row->w, "<unknown>");
        return;
    }
    json_array_foreach(json_object_get(row->spec, "externalIPs"), i, ip) {
        if (row->text.len)
            str_addc(&row->text, ',');
        str_add(&row->text, json_text(ip));
    }
    jsonw_str(row->w, row->text.len ? str_get(&row->text) : none);
}

static void cell_service_ports(struct api_row *row, const void *unused) {
    (void)unused;
    size_t i;
    json_t *port;
    str_reset(&row->text);
    json_array_foreach(json_object_get(row->spec, "ports"), i, port) {
        json_int_t node_port = json_integer_value(json_object_get(port, "nodePort"));
        str_addf(&row->text, "%s%" JSON_INTEGER_FORMAT, i ? "," : "",
                 json_integer_value(json_object_get(port, "port")));
        if (node_port > 0)
            str_addf(&row->text, ":%" JSON_INTEGER_FORMAT, node_port);
        str_addf(&row->text, "/%s", json_text_of(port, "protocol"));
    }
    jsonw_str(row->w, row->text.len ? str_get(&row->text) : "<none>");
}

static const struct api_column service_columns[] = {
    COLUMN_NAME,
    {"Type", "string", "", 0, cell_string, "spec.type", NULL},
    {"Cluster-IP", "string", "", 0, cell_service_ip, NULL, NULL},
    {"External-IP", "string", "", 0, cell_service_external, NULL, NULL},
    {"Port(s)", "string", "", 0, cell_service_ports, NULL, NULL},
    COLUMN_AGE,
    {"Selector", "string", "", 1, cell_labels, "spec.selector", NULL},
};

enum { SLICE_SHOWN = 3 }; /* that many ports or endpoints, then "+ 2 more..." */

static void write_some(struct api_row *row, size_t count) {
    if (count > SLICE_SHOWN)
        str_addf(&row->text, " + %zu more...", count - SLICE_SHOWN);
    jsonw_str(row->w, row->text.len ? str_get(&row->text) : "<unset>");
}

static void cell_slice_ports(struct api_row *row, const void *unused) {
    (void)unused;
    const json_t *ports = json_object_get(row->object, "ports");
    str_reset(&row->text);
    for (size_t i = 0; i < SLICE_SHOWN && i < json_array_size(ports); i++) {
        const json_t *port = json_array_get(ports, i), *number = json_object_get(port, "port");
        const json_t *name = json_object_get(port, "name");
        if (i)
            str_addc(&row->text, ',');
        if (json_is_integer(number))
            str_addf(&row->text, "%" JSON_INTEGER_FORMAT, json_integer_value(number));
        else
            str_add(&row->text, json_is_string(name) ? json_text(name) : "*");
    }
    write_some(row, json_array_size(ports));
}

static void cell_slice_endpoints(struct api_row *row, const void *unused) {
    (void)unused;
    size_t i, k, count = 0;
    json_t *endpoint, *address;
    str_reset(&row->text);
    json_array_foreach(json_object_get(row->object, "endpoints"), i, endpoint) {
        json_array_foreach(json_object_get(endpoint, "addresses"), k, address) {
            if (count && count < SLICE_SHOWN)
                str_addc(&row->text, ',');
            if (count < SLICE_SHOWN)
                str_add(&row->text, json_text(address));
            count++;
        }
    }
    write_some(row, count);
}

static const struct api_column slice_columns[] = {
    COLUMN_NAME,
    {"AddressType", "string", "", 0, cell_string, "addressType", NULL},
    {"Ports", "string", "", 0, cell_slice_ports, NULL, NULL},
    {"Endpoints", "string", "", 0, cell_slice_endpoints, NULL, NULL},
    COLUMN_AGE,
};

/* --- the small ones --- */

static void cell_config_map_data(struct api_row *row, const void *unused) {
    (void)unused;
    jsonw_int(row->w, (int64_t)(json_object_size(json_object_get(row->object, "data")) +
                                json_object_size(json_object_get(row->object, "binaryData"))));
}

/* A point in time, not an age: the one kind that the default convertor prints. */
static void cell_created(struct api_row *row, const void *unused) {
    (void)unused;
    char buf[TIMEFMT_LEN];
    int64_t t;
    bool known = human_time(json_object_get(row->meta, "creationTimestamp"), &t);
    jsonw_str(row->w, known ? time_format(t, false, buf) : "0001-01-01T00:00:00Z");
}

static const struct api_column namespace_columns[] = {
    COLUMN_NAME,
    {"Status", "string", "", 0, cell_string, "status.phase", NULL},
    COLUMN_AGE,
};
static const struct api_column config_map_columns[] = {
    COLUMN_NAME,
    {"Data", "string", "", 0, cell_config_map_data, NULL, NULL},
    COLUMN_AGE,
};
static const struct api_column secret_columns[] = {
    COLUMN_NAME,
    {"Type", "string", "", 0, cell_string, "type", NULL},
    {"Data", "string", "", 0, cell_count, "data", NULL},
    COLUMN_AGE,
};
static const struct api_column service_account_columns[] = {COLUMN_NAME, COLUMN_AGE};
static const struct api_column lease_columns[] = {
    COLUMN_NAME,
    {"Holder", "string", "", 0, cell_string, "spec.holderIdentity", NULL},
    COLUMN_AGE,
};
static const struct api_column priority_class_columns[] = {
    COLUMN_NAME,
    {"Value", "integer", "", 0, cell_int, "value", NULL},
    {"Global-Default", "boolean", "", 0, cell_bool, "globalDefault", NULL},
    COLUMN_AGE,
    {"PreemptionPolicy", "string", "", 0, cell_string, "preemptionPolicy", NULL},
};
static const struct api_column definition_columns[] = {
    COLUMN_NAME,
    {"Created At", "date", "", 0, cell_created, NULL, NULL},
};

const struct api_table_kind api_tables_core[] = {
    {.group = "", .kind = "Node", COLUMNS(node_columns)},
    {.group = "", .kind = "Event", COLUMNS(event_columns)},
    {.group = "", .kind = "Service", COLUMNS(service_columns)},
    {.group = "", .kind = "Namespace", COLUMNS(namespace_columns)},
    {.group = "", .kind = "ConfigMap", COLUMNS(config_map_columns)},
    {.group = "", .kind = "Secret", COLUMNS(secret_columns)},
    {.group = "", .kind = "ServiceAccount", COLUMNS(service_account_columns)},
    {.group = "coordination.k8s.io", .kind = "Lease", COLUMNS(lease_columns)},
    {.group = "discovery.k8s.io", .kind = "EndpointSlice", COLUMNS(slice_columns)},
    {.group = "scheduling.k8s.io", .kind = "PriorityClass", COLUMNS(priority_class_columns)},
    {.group = "apiextensions.k8s.io",
     .kind = "CustomResourceDefinition",
     COLUMNS(definition_columns),
     .empty_is_null = true},
};
const size_t api_tables_core_len = ARRAY_LEN(api_tables_core);
