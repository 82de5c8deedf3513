/* A definition's versions as Go prints the type that it holds them in: without names for JSON, so
 * every field appears under its Go name. */
#include "sim/api/crd_internal.h"
#include "sim/api/gotext.h"

enum field_kind { FIELD_TEXT, FIELD_FLAG, FIELD_NUMBER, FIELD_ANY };

struct field {
    const char *go, *json;
    enum field_kind kind; /* "", false, 0 or null when it is not there */
};

static void dump_fields(struct str *out, const json_t *obj, const struct field *fields, size_t n) {
    for (size_t i = 0; i < n; i++) {
        static const char *const absent[] = {"\"\"", "false", "0", "null"};
        const json_t *v = kw_value(obj, fields[i].json);
        str_addf(out, "%s\"%s\":", i ? "," : "", fields[i].go);
        if (v)
            go_json(out, v);
        else
            str_add(out, absent[fields[i].kind]);
    }
}

static void dump_list(struct str *out, const json_t *list, const struct field *fields, size_t n) {
    if (!json_array_size(list)) {
        str_add(out, "null");
        return;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        str_add(out, i ? ",{" : "[{");
        dump_fields(out, json_array_get(list, i), fields, n);
        str_addc(out, '}');
    }
    str_addc(out, ']');
}

static void dump_subresources(struct str *out, const json_t *v) {
    static const struct field fields[] = {
        {"SpecReplicasPath", "specReplicasPath", FIELD_TEXT},
        {"StatusReplicasPath", "statusReplicasPath", FIELD_TEXT},
        {"LabelSelectorPath", "labelSelectorPath", FIELD_ANY},
    };
    const json_t *scale = kw_value(v, "scale");
    if (!v) {
        str_add(out, "null");
        return;
    }
    str_addf(out, "{\"Status\":%s,\"Scale\":", kw_value(v, "status") ? "{}" : "null");
    if (scale) {
        str_addc(out, '{');
        dump_fields(out, scale, fields, ARRAY_LEN(fields));
        str_add(out, "}}");
    } else {
        str_add(out, "null}");
    }
}

static void dump_schema(struct str *out, const json_t *piece) {
    if (!piece) {
        str_add(out, "null");
        return;
    }
    str_add(out, "{\"OpenAPIV3Schema\":");
    structural_dump(out, crd_schema(piece));
    str_addc(out, '}');
}

void crd_dump_versions(struct str *out, const struct crd_view *v) {
    static const struct field fields[] = {
        {"Name", "name", FIELD_TEXT},
        {"Served", "served", FIELD_FLAG},
        {"Storage", "storage", FIELD_FLAG},
        {"Deprecated", "deprecated", FIELD_FLAG},
        {"DeprecationWarning", "deprecationWarning", FIELD_ANY},
    };
    static const struct field columns[] = {
        {"Name", "name", FIELD_TEXT},           {"Type", "type", FIELD_TEXT},
        {"Format", "format", FIELD_TEXT},       {"Description", "description", FIELD_TEXT},
        {"Priority", "priority", FIELD_NUMBER}, {"JSONPath", "jsonPath", FIELD_TEXT},
    };
    static const struct field selectable[] = {{"JSONPath", "jsonPath", FIELD_TEXT}};
    if (!json_is_array(v->versions)) {
        str_add(out, "null");
        return;
    }
    str_addc(out, '[');
    for (size_t i = 0; i < json_array_size(v->versions); i++) {
        str_add(out, i ? ",{" : "{");
        dump_fields(out, json_array_get(v->versions, i), fields, ARRAY_LEN(fields));
        str_add(out, ",\"Schema\":");
        dump_schema(out, crd_of_version(v, i, PIECE_SCHEMA));
        str_add(out, ",\"Subresources\":");
        dump_subresources(out, crd_of_version(v, i, PIECE_SUBRESOURCES));
        str_add(out, ",\"AdditionalPrinterColumns\":");
        dump_list(out, crd_of_version(v, i, PIECE_COLUMNS), columns, ARRAY_LEN(columns));
        str_add(out, ",\"SelectableFields\":");
        dump_list(out, crd_of_version(v, i, PIECE_SELECTABLE), selectable, ARRAY_LEN(selectable));
        str_addc(out, '}');
    }
    str_addc(out, ']');
}
