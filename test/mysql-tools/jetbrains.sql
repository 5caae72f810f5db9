-- DataGrip and the database window of JetBrains' editors: what its introspection sends.
--- connect
select version(), @@version_comment, database()
--- version
select version()
--- case
SHOW VARIABLES LIKE 'lower_case_%'
--- clouds
SHOW VARIABLES LIKE 'aurora\_version'
--- keep alive
/* ping */ select 'keep alive'
--- schemas
select schema_name, default_character_set_name, default_collation_name from information_schema.schemata
--- collations
select collation_name, character_set_name, is_default from information_schema.collations
--- tables
select table_name, table_type, table_comment, engine, table_collation, create_options from information_schema.tables where table_schema = 'public'
--- columns
select ordinal_position, column_name, column_type, column_default, generation_expression, table_name, column_comment, is_nullable, extra, collation_name from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position
--- indices
select table_name, index_name, index_comment, index_type, non_unique, column_name, sub_part, collation, null expression from information_schema.statistics where table_schema = 'public' and index_schema = 'public' order by index_schema, table_name, index_name, index_type, seq_in_index
--- constraints
select c.constraint_name, c.constraint_schema, c.table_name, c.constraint_type from information_schema.table_constraints c where c.table_schema = 'public'
--- references
select constraint_name, table_name, column_name, referenced_table_schema, referenced_table_name, referenced_column_name from information_schema.key_column_usage where table_schema = 'public' and referenced_column_name is not null order by table_name, constraint_name, ordinal_position
--- rules
select constraint_name, update_rule, delete_rule, table_name from information_schema.referential_constraints where constraint_schema = 'public'
--- views
select table_name, view_definition, definer from information_schema.views where table_schema = 'public'
--- routines
select routine_name, routine_type, routine_definition, routine_comment, dtd_identifier, concat(sql_data_access, ' ', security_type) from information_schema.routines where routine_schema = 'public'
--- parameters
select specific_name, ordinal_position, parameter_name, parameter_mode, dtd_identifier from information_schema.parameters where specific_schema = 'public' and ordinal_position > 0 order by specific_name, ordinal_position
--- triggers
select trigger_name, event_object_table, event_manipulation, action_timing, definer from information_schema.triggers where trigger_schema = 'public'
--- events
select event_name, event_comment, definer, event_type = 'RECURRING' recurring, interval_value, interval_field, on_completion = 'PRESERVE' preserve, last_executed from information_schema.events where event_schema = 'public'
--- partitions
select table_name, partition_name, subpartition_name, partition_ordinal_position, subpartition_ordinal_position, partition_method, partition_expression, partition_description, partition_comment from information_schema.partitions where partition_name is not null and table_schema = 'public'
--- plugins
SHOW PLUGINS
--- current database
select database(), schema(), left(user(),instr(concat(user(),'@'),'@')-1)
--- set limits
SET net_write_timeout = 600
--- rows
SELECT t.* FROM public.cpu t LIMIT 501
--- count
SELECT COUNT(*) FROM (SELECT t.* FROM public.cpu t) a
