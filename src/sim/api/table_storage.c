/* The columns of storage: volumes, claims, classes, attachments. */
#include "sim/api/table_internal.h"

/* Before there was spec.storageClassName; it still wins. */
#define BETA_CLASS "volume.beta.kubernetes.io/storage-class"

static void write_modes(struct api_row *row, const json_t *modes) {
    static const struct {
        const char *mode, *letters;
    } words[] = {
        {"ReadWriteOnce", "RWO"},
        {"ReadOnlyMany", "ROX"},
        {"ReadWriteMany", "RWX"},
        {"ReadWriteOncePod", "RWOP"},
    };
    str_reset(&row->text);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        bool has = false;
        for (size_t k = 0; k < json_array_size(modes) && !has; k++)
            has = streq(json_text(json_array_get(modes, k)), words[i].mode);
        if (!has)
            continue;
        if (row->text.len)
            str_addc(&row->text, ',');
        str_add(&row->text, words[i].letters);
    }
    jsonw_str(row->w, str_get(&row->text));
}

/* A quantity is stored in canonical form: as it is; none is 0. */
static void write_quantity(struct api_row *row, const json_t *value) {
    jsonw_str(row->w, json_is_string(value) ? json_text(value) : "0");
}

static void cell_class(struct api_row *row, const void *unused) {
    (void)unused;
    const json_t *beta = json_object_get(json_object_get(row->meta, "annotations"), BETA_CLASS);
    jsonw_str(row->w,
              json_is_string(beta) ? json_text(beta) : json_text_of(row->spec, "storageClassName"));
}

static void cell_phase(struct api_row *row, const void *unused) {
    (void)unused;
    bool going = json_is_string(json_object_get(row->meta, "deletionTimestamp"));
    jsonw_str(row->w, going ? "Terminating" : json_text_of(row->status, "phase"));
}

static void cell_volume_size(struct api_row *row, const void *unused) {
    (void)unused;
    write_quantity(row, json_at(row->spec, "capacity.storage"));
}

static void cell_volume_modes(struct api_row *row, const void *unused) {
    (void)unused;
    write_modes(row, json_object_get(row->spec, "accessModes"));
}

static void cell_volume_claim(struct api_row *row, const void *unused) {
    (void)unused;
    const json_t *claim = json_object_get(row->spec, "claimRef");
    str_reset(&row->text);
    if (json_is_object(claim))
        str_addf(&row->text, "%s/%s", json_text_of(claim, "namespace"),
                 json_text_of(claim, "name"));
    jsonw_str(row->w, str_get(&row->text));
}

static const struct api_column volume_columns[] = {
    COLUMN_NAME,
    {"Capacity", "string", "", 0, cell_volume_size, NULL, NULL},
    {"Access Modes", "string", "", 0, cell_volume_modes, NULL, NULL},
    {"Reclaim Policy", "string", "", 0, cell_string, "spec.persistentVolumeReclaimPolicy", NULL},
    {"Status", "string", "", 0, cell_phase, NULL, NULL},
    {"Claim", "string", "", 0, cell_volume_claim, NULL, NULL},
    {"StorageClass", "string", "", 0, cell_class, NULL, NULL},
    {"VolumeAttributesClass", "string", "", 0, cell_string_unset, "spec.volumeAttributesClassName",
     NULL},
    {"Reason", "string", "", 0, cell_string, "status.reason", NULL},
    COLUMN_AGE,
    {"VolumeMode", "string", "", 1, cell_string_unset, "spec.volumeMode", NULL},
};

/* A claim has size and modes once it has a volume. */
static bool is_bound(const struct api_row *row) {
    return *json_text_of(row->spec, "volumeName");
}

static void cell_claim_size(struct api_row *row, const void *unused) {
    (void)unused;
    if (is_bound(row))
        write_quantity(row, json_at(row->status, "capacity.storage"));
    else
        jsonw_str(row->w, "");
}

static void cell_claim_modes(struct api_row *row, const void *unused) {
    (void)unused;
    write_modes(row, is_bound(row) ? json_object_get(row->status, "accessModes") : NULL);
}

static const struct api_column claim_columns[] = {
    COLUMN_NAME,
    {"Status", "string", "", 0, cell_phase, NULL, NULL},
    {"Volume", "string", "", 0, cell_string, "spec.volumeName", NULL},
    {"Capacity", "string", "", 0, cell_claim_size, NULL, NULL},
    {"Access Modes", "string", "", 0, cell_claim_modes, NULL, NULL},
    {"StorageClass", "string", "", 0, cell_class, NULL, NULL},
    {"VolumeAttributesClass", "string", "", 0, cell_string_unset, "spec.volumeAttributesClassName",
     NULL},
    COLUMN_AGE,
    {"VolumeMode", "string", "", 1, cell_string_unset, "spec.volumeMode", NULL},
};

static void cell_class_name(struct api_row *row, const void *unused) {
    (void)unused;
    static const char *const marks[] = {"storageclass.kubernetes.io/is-default-class",
                                        "storageclass.beta.kubernetes.io/is-default-class"};
    const json_t *annotations = json_object_get(row->meta, "annotations");
    bool is_default = false;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        is_default = is_default || streq(json_text_of(annotations, marks[i]), "true");
    str_reset(&row->text);
    str_add(&row->text, json_text_of(row->meta, "name"));
    if (is_default)
        str_add(&row->text, " (default)");
    jsonw_str(row->w, str_get(&row->text));
}

static void cell_class_reclaim(struct api_row *row, const void *unused) {
    (void)unused;
    const json_t *policy = json_object_get(row->object, "reclaimPolicy");
    jsonw_str(row->w, json_is_string(policy) ? json_text(policy) : "Delete");
}

static void cell_class_binding(struct api_row *row, const void *unused) {
    (void)unused;
    const json_t *mode = json_object_get(row->object, "volumeBindingMode");
    jsonw_str(row->w, json_is_string(mode) ? json_text(mode) : "Immediate");
}

static const struct api_column class_columns[] = {
    {"Name", "string", "name", 0, cell_class_name, NULL, NULL},
    {"Provisioner", "string", "", 0, cell_string, "provisioner", NULL},
    {"ReclaimPolicy", "string", "", 0, cell_class_reclaim, NULL, NULL},
    {"VolumeBindingMode", "string", "", 0, cell_class_binding, NULL, NULL},
    {"AllowVolumeExpansion", "string", "", 0, cell_bool, "allowVolumeExpansion", NULL},
    COLUMN_AGE,
};
static const struct api_column attachment_columns[] = {
    COLUMN_NAME,
    {"Attacher", "string", "name", 0, cell_string, "spec.attacher", NULL},
    {"PV", "string", "", 0, cell_string, "spec.source.persistentVolumeName", NULL},
    {"Node", "string", "", 0, cell_string, "spec.nodeName", NULL},
    {"Attached", "boolean", "", 0, cell_bool, "status.attached", NULL},
    COLUMN_AGE,
};
static const struct api_column csi_node_columns[] = {
    COLUMN_NAME,
    {"Drivers", "integer", "", 0, cell_count, "spec.drivers", NULL},
    COLUMN_AGE,
};

const struct api_table_kind api_tables_storage[] = {
    {.group = "", .kind = "PersistentVolume", COLUMNS(volume_columns)},
    {.group = "", .kind = "PersistentVolumeClaim", COLUMNS(claim_columns)},
    {.group = "storage.k8s.io", .kind = "StorageClass", COLUMNS(class_columns)},
    {.group = "storage.k8s.io", .kind = "VolumeAttachment", COLUMNS(attachment_columns)},
    {.group = "storage.k8s.io", .kind = "CSINode", COLUMNS(csi_node_columns)},
};
const size_t api_tables_storage_len = ARRAY_LEN(api_tables_storage);
