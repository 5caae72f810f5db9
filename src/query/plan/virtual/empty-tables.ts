/** Tables of `information_schema` that exist for clients of MySQL and never have rows (contract query.md 3.1). */
import { type InformationTable, informationTable } from "./information-table.ts";

const ROUTINE_VALUE =
  "data_type character_maximum_length:i64 character_octet_length:i64 numeric_precision:i64 numeric_scale:i64 datetime_precision:i64 " +
  "character_set_name collation_name dtd_identifier";

/** The tables. */
export const EMPTY_TABLES: readonly InformationTable[] = [
  informationTable("check_constraints", 12, "constraint_catalog constraint_schema constraint_name check_clause"),
  informationTable("column_privileges", 6, "grantee table_catalog table_schema table_name column_name privilege_type is_grantable"),
  informationTable("column_statistics", 7, "schema_name table_name column_name histogram"),
  informationTable(
    "events",
    13,
    `event_catalog event_schema event_name definer time_zone event_body event_definition event_type execute_at:ts6 interval_value:i64
    interval_field sql_mode starts:ts6 ends:ts6 status on_completion created:ts6 last_altered:ts6 last_executed:ts6 event_comment
    originator:i64 character_set_client collation_connection database_collation`,
  ),
  informationTable(
    "files",
    14,
    `file_id:i64 file_name file_type tablespace_name table_catalog table_schema table_name logfile_group_name logfile_group_number:i64
    engine fulltext_keys deleted_rows:i64 update_count:i64 free_extents:i64 total_extents:i64 extent_size:i64 initial_size:i64
    maximum_size:i64 autoextend_size:i64 creation_time:ts6 last_update_time:ts6 last_access_time:ts6 recover_time:ts6
    transaction_counter:i64 version row_format table_rows:i64 avg_row_length:i64 data_length:i64 max_data_length:i64 index_length:i64
    data_free:i64 create_time:ts6 update_time:ts6 check_time:ts6 checksum status extra`,
  ),
  informationTable("global_status", 25, "variable_name variable_value"),
  informationTable("session_status", 26, "variable_name variable_value"),
  informationTable("optimizer_trace", 17, "query trace missing_bytes_beyond_max_mem_size:i64 insufficient_privileges:i64"),
  informationTable(
    "parameters",
    18,
    `specific_catalog specific_schema specific_name ordinal_position:i64 parameter_mode parameter_name ${ROUTINE_VALUE} routine_type`,
  ),
  informationTable(
    "profiling",
    19,
    `query_id:i64 seq:i64 state duration:i64 cpu_user:i64 cpu_system:i64 context_voluntary:i64 context_involuntary:i64 block_ops_in:i64
    block_ops_out:i64 messages_sent:i64 messages_received:i64 page_faults_major:i64 page_faults_minor:i64 swaps:i64 source_function
    source_file source_line:i64`,
  ),
  informationTable(
    "referential_constraints",
    20,
    `constraint_catalog constraint_schema constraint_name unique_constraint_catalog unique_constraint_schema unique_constraint_name
    match_option update_rule delete_rule table_name referenced_table_name`,
  ),
  informationTable(
    "routines",
    21,
    `specific_name routine_catalog routine_schema routine_name routine_type ${ROUTINE_VALUE} routine_body routine_definition external_name
    external_language parameter_style is_deterministic sql_data_access sql_path security_type created:ts6 last_altered:ts6 sql_mode
    routine_comment definer character_set_client collation_connection database_collation`,
  ),
  informationTable("schema_privileges", 22, "grantee table_catalog table_schema privilege_type is_grantable"),
  informationTable("table_privileges", 23, "grantee table_catalog table_schema table_name privilege_type is_grantable"),
  informationTable(
    "triggers",
    24,
    `trigger_catalog trigger_schema trigger_name event_manipulation event_object_catalog event_object_schema event_object_table
    action_order:i64 action_condition? action_statement action_orientation action_timing action_reference_old_table?
    action_reference_new_table? action_reference_old_row action_reference_new_row created:ts6? sql_mode definer character_set_client
    collation_connection database_collation`,
  ),
  // What tools of MySQL and PostgreSQL ask for besides. Ids from 100 on are this server's own.
  informationTable("user_privileges", 100, "grantee table_catalog privilege_type is_grantable"),
  informationTable(
    "plugins",
    101,
    `plugin_name plugin_version plugin_status plugin_type plugin_type_version plugin_library? plugin_library_version? plugin_author
    plugin_description plugin_license load_option`,
  ),
  informationTable(
    "tablespaces",
    102,
    `tablespace_name engine tablespace_type? logfile_group_name? extent_size:i64? autoextend_size:i64? maximum_size:i64?
    nodegroup_id:i64? tablespace_comment?`,
  ),
  informationTable("view_table_usage", 103, "view_catalog view_schema view_name table_catalog table_schema table_name"),
  informationTable("view_column_usage", 104, "view_catalog view_schema view_name table_catalog table_schema table_name column_name"),
  informationTable(
    "constraint_column_usage",
    105,
    "table_catalog table_schema table_name column_name constraint_catalog constraint_schema constraint_name",
  ),
  informationTable(
    "constraint_table_usage",
    106,
    "table_catalog table_schema table_name constraint_catalog constraint_schema constraint_name",
  ),
  informationTable(
    "sequences",
    107,
    `sequence_catalog sequence_schema sequence_name data_type numeric_precision:i64 numeric_precision_radix:i64 numeric_scale:i64
    start_value minimum_value maximum_value increment cycle_option`,
  ),
  informationTable(
    "domains",
    108,
    `domain_catalog domain_schema domain_name data_type character_maximum_length:i64 character_octet_length:i64 numeric_precision:i64
    numeric_scale:i64 datetime_precision:i64 domain_default udt_catalog udt_schema udt_name`,
  ),
  informationTable("enabled_roles", 109, "role_name"),
  informationTable("applicable_roles", 110, "grantee role_name is_grantable"),
  informationTable(
    "role_table_grants",
    111,
    "grantor grantee table_catalog table_schema table_name privilege_type is_grantable with_hierarchy",
  ),
  // Without a flow engine and without procedures of its own, the server has nothing to say in these.
  informationTable(
    "flows",
    33,
    `flow_name flow_id:u32 state_size:u64? table_catalog flow_definition comment? expire_after:i64? source_table_ids? sink_table_name
    flownode_ids? options? created_time:ts3 updated_time:ts3 last_execution_time:ts3? source_table_names flownode_addrs?`,
  ),
  informationTable(
    "flow_statistics",
    45,
    "flow_id:u32 flow_name start_time:ts3? last_execution_time:ts3? uptime_seconds:i64? state_size:u64?",
  ),
  informationTable("procedure_info", 34, "procedure_id procedure_type start_time:ts3? end_time:ts3? status lock_keys?"),
];
