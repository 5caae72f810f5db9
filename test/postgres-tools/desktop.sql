-- Desktop tools: DBeaver, DataGrip, pgAdmin, psql's tab completion, pgx.
--- dbeaver schemas
SELECT n.oid,n.*,d.description FROM pg_catalog.pg_namespace n LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=n.oid AND d.objsubid=0 AND d.classoid='pg_namespace'::regclass ORDER BY nspname
--- dbeaver database
SELECT db.oid,db.* FROM pg_catalog.pg_database db WHERE db.datname='greptime'
--- dbeaver session
SELECT current_schema(),session_user
--- dbeaver search path
SHOW search_path
--- dbeaver data types
SELECT t.oid,t.*,c.relkind,format_type(nullif(t.typbasetype, 0), t.typtypmod) as base_type_name, d.description FROM pg_catalog.pg_type t LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid=t.typelem LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid=t.typrelid LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid=d.objoid WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C')
--- dbeaver tables
SELECT c.oid,c.*,d.description,pg_catalog.pg_get_expr(c.relpartbound, c.oid) as partition_expr, pg_catalog.pg_get_partkeydef(c.oid) as partition_key FROM pg_catalog.pg_class c INNER JOIN pg_catalog.pg_namespace n ON n.oid=c.relnamespace LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_class'::regclass WHERE n.nspname='public' AND c.relkind not in ('i','I','c')
--- dbeaver columns
SELECT c.relname,a.*,pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) as def_value,dsc.description,dep.objid FROM pg_catalog.pg_attribute a INNER JOIN pg_catalog.pg_class c ON (a.attrelid=c.oid) LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid=ad.adrelid AND a.attnum = ad.adnum) LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid) LEFT OUTER JOIN pg_depend dep on dep.refobjid = a.attrelid AND dep.deptype = 'i' and dep.refobjsubid = a.attnum and dep.classid = dep.refclassid WHERE NOT a.attisdropped AND c.relkind not in ('i','I','c') AND c.oid='cpu'::regclass ORDER BY a.attnum
--- dbeaver constraints
SELECT c.oid,c.*,t.relname as tabrelname,rt.relnamespace as refnamespace,d.description, case when c.contype='c' then "substring"(pg_get_constraintdef(c.oid), 7) else null end consrc_copy FROM pg_catalog.pg_constraint c INNER JOIN pg_catalog.pg_class t ON t.oid=c.conrelid LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid=c.confrelid LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_constraint'::regclass WHERE t.relname='cpu' ORDER BY c.oid
--- dbeaver indexes
SELECT i.*,i.indkey as keys,c.relname,c.relnamespace,c.relam,c.reltablespace,tc.relname as tabrelname,dsc.description,pg_catalog.pg_get_expr(i.indpred, i.indrelid) as pred_expr,pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) as expr,pg_catalog.pg_relation_size(i.indexrelid) as index_rel_size,pg_catalog.pg_stat_get_numscans(i.indexrelid) as index_num_scans FROM pg_catalog.pg_index i INNER JOIN pg_catalog.pg_class c ON c.oid=i.indexrelid INNER JOIN pg_catalog.pg_class tc ON tc.oid=i.indrelid LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid=dsc.objoid WHERE tc.relname='cpu' ORDER BY tc.relname, c.relname
--- dbeaver settings
select * from pg_catalog.pg_settings where name='standard_conforming_strings'
--- dbeaver statistics
SELECT reltuples::bigint AS estimate FROM pg_catalog.pg_class WHERE oid='cpu'::regclass
--- dbeaver sizes
select c.oid,pg_catalog.pg_total_relation_size(c.oid) as total_rel_size,pg_catalog.pg_relation_size(c.oid) as rel_size FROM pg_class c WHERE c.relnamespace='public'::regnamespace
--- dbeaver keywords
select * from pg_catalog.pg_get_keywords()
--- dbeaver enum
select e.enumtypid,e.enumlabel,e.enumsortorder from pg_catalog.pg_enum e where e.enumtypid = any(array[16,17])
--- datagrip version
select version()
--- datagrip databases
select N.oid::bigint as id, datname as name, D.description, datistemplate as is_template, datallowconn as allow_connections, pg_catalog.pg_get_userbyid(N.datdba) as "owner" from pg_catalog.pg_database N left join pg_catalog.pg_shdescription D on N.oid = D.objoid order by case when datname = pg_catalog.current_database() then -1::bigint else N.oid::bigint end
--- datagrip schemas
select N.oid::bigint as id, N.xmin as state_number, nspname as name, D.description, pg_catalog.pg_get_userbyid(N.nspowner) as "owner" from pg_catalog.pg_namespace N left join pg_catalog.pg_description D on N.oid = D.objoid order by case when nspname = pg_catalog.current_schema() then -1::bigint else N.oid::bigint end
--- datagrip transaction
select case when pg_catalog.pg_is_in_recovery() then null else (pg_catalog.txid_current() % 4294967296)::varchar::bigint end as current_txid
--- datagrip tables
select T.relkind as table_kind, T.relname as table_name, T.oid as table_id, T.xmin as table_state_number, false as table_with_oids, T.reltablespace as tablespace_id, T.reloptions as options, T.relpersistence as persistence, (select pg_catalog.array_agg(inhparent::bigint order by inhseqno)::varchar from pg_catalog.pg_inherits where T.oid = inhrelid) as ancestors, (select pg_catalog.array_agg(inhrelid::bigint order by inhrelid)::varchar from pg_catalog.pg_inherits where T.oid = inhparent) as successors, T.relispartition as is_partition, pg_catalog.pg_get_partkeydef(T.oid) as partition_key, pg_catalog.pg_get_expr(T.relpartbound, T.oid) as partition_expression, T.relam am_id, pg_catalog.pg_get_userbyid(T.relowner) as "owner" from pg_catalog.pg_class T where relnamespace = 'public'::regnamespace::oid and relkind in ('r', 'm', 'v', 'f', 'p') order by table_kind, table_id
--- datagrip columns
with T as ( select distinct T.oid as table_id, T.relname as table_name from pg_catalog.pg_class T, pg_catalog.pg_attribute A where T.relnamespace = 'public'::regnamespace::oid and T.relkind in ('r', 'm', 'v', 'f', 'p') and A.attrelid = T.oid ) select T.table_id, C.attnum as column_position, C.attname as column_name, C.xmin as column_state_number, C.atttypmod as type_mod, C.attndims as dimensions_number, pg_catalog.format_type(C.atttypid, C.atttypmod) as type_spec, C.atttypid as type_id, C.attnotnull as mandatory, pg_catalog.pg_get_expr(D.adbin, T.table_id) as column_default_expression, not C.attislocal as column_is_inherited, C.attisdropped as column_is_dropped, C.attidentity as identity_kind, C.attgenerated as generated from T inner join pg_catalog.pg_attribute C on T.table_id = C.attrelid left join pg_catalog.pg_attrdef D on (C.attrelid, C.attnum) = (D.adrelid, D.adnum) where attnum > 0 order by table_id, attnum
--- datagrip indexes
select tab.oid table_id, tab.relkind table_kind, ind_stor.relname index_name, ind_head.indexrelid index_id, ind_stor.xmin state_number, ind_head.indisunique is_unique, ind_head.indisprimary is_primary, ind_head.indnullsnotdistinct as nulls_not_distinct, pg_catalog.pg_get_expr(ind_head.indpred, ind_head.indrelid) as condition, (select pg_catalog.array_agg(inhparent::bigint order by inhseqno)::varchar from pg_catalog.pg_inherits where ind_stor.oid = inhrelid) as ancestors, ind_stor.reltablespace tablespace_id, opcmethod as access_method_id from pg_catalog.pg_class tab join pg_catalog.pg_index ind_head on ind_head.indrelid = tab.oid join pg_catalog.pg_class ind_stor on tab.relnamespace = ind_stor.relnamespace and ind_stor.oid = ind_head.indexrelid left join pg_catalog.pg_opclass on pg_opclass.oid = ANY(indclass) where tab.relnamespace = 'public'::regnamespace::oid and tab.relkind in ('r', 'm', 'v', 'p') and ind_stor.relkind in ('i', 'I')
--- datagrip constraints
select T.oid table_id, relkind table_kind, C.oid::bigint con_id, C.xmin con_state_id, conname con_name, contype con_kind, conkey con_columns, conindid index_id, confrelid ref_table_id, condeferrable is_deferrable, condeferred is_init_deferred, confupdtype on_update, confdeltype on_delete, connoinherit no_inherit, pg_catalog.pg_get_expr(conbin, T.oid) con_expression, confkey ref_columns, conexclop::int[] excl_operators, array(select unnest::regoper::varchar from unnest(conexclop)) excl_operators_str from pg_catalog.pg_constraint C join pg_catalog.pg_class T on C.conrelid = T.oid where relkind in ('r', 'v', 'f', 'p') and relnamespace = 'public'::regnamespace::oid and contype in ('p', 'u', 'f', 'c', 'x') and connamespace = 'public'::regnamespace::oid
--- datagrip descriptions
select D.objoid id, case when 'pg_catalog.pg_class'::regclass = classoid then C.relkind else null end as kind, D.objsubid sub_id, D.description from pg_catalog.pg_description D left join pg_catalog.pg_class C on D.objoid = C.oid where C.relnamespace = 'public'::regnamespace::oid and C.relkind not in ('t', 'i', 'I')
--- datagrip views
select T.relkind as view_kind, T.oid as view_id, pg_catalog.pg_get_viewdef(T.oid, true) as source_text from pg_catalog.pg_class T join pg_catalog.pg_namespace N on T.relnamespace = N.oid where N.oid = 'public'::regnamespace::oid and T.relkind in ('m','v')
--- datagrip roles
select R.oid::bigint as role_id, rolname as role_name, rolsuper is_super, rolinherit is_inherit, rolcreaterole can_createrole, rolcreatedb can_createdb, rolcanlogin can_login, rolreplication is_replication, rolconnlimit conn_limit, rolvaliduntil valid_until, rolbypassrls bypass_rls, rolconfig config, D.description from pg_catalog.pg_roles R left join pg_catalog.pg_shdescription D on D.objoid = R.oid
--- datagrip access methods
select A.oid as access_method_id, A.xmin as state_number, A.amname as access_method_name, A.amhandler::oid as handler_id, 'x' as handler_name, A.amtype as access_method_type from pg_am A
--- pgadmin server
SELECT CASE WHEN usesuper THEN pg_catalog.pg_is_in_recovery() ELSE FALSE END as inrecovery, CASE WHEN usesuper AND pg_catalog.pg_is_in_recovery() THEN false ELSE FALSE END as isreplaypaused FROM pg_catalog.pg_user WHERE usename=current_user
--- pgadmin gss
SELECT gss_authenticated, encrypted FROM pg_catalog.pg_stat_gssapi WHERE pid = pg_backend_pid()
--- pgadmin role
SELECT roles.oid as id, roles.rolname as name, roles.rolsuper as is_superuser, CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreaterole END as can_create_role, CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreatedb END as can_create_db, CASE WHEN 'pg_signal_backend'=ANY(ARRAY(WITH RECURSIVE cte AS ( SELECT pg_roles.oid,pg_roles.rolname FROM pg_roles WHERE pg_roles.oid = roles.oid UNION ALL SELECT m.roleid, pgr.rolname FROM cte cte_1 JOIN pg_auth_members m ON m.member = cte_1.oid JOIN pg_roles pgr ON pgr.oid = m.roleid) SELECT rolname FROM cte)) THEN True ELSE False END as can_signal_backend FROM pg_catalog.pg_roles as roles WHERE rolname = current_user
--- pgadmin databases
SELECT db.oid as did, db.datname as name, ta.spcname as spcname, db.datallowconn, db.datistemplate AS is_template, pg_catalog.has_database_privilege(db.oid, 'CREATE') as cancreate, datdba as owner, descr.description FROM pg_catalog.pg_database db LEFT OUTER JOIN pg_catalog.pg_tablespace ta ON db.dattablespace = ta.oid LEFT OUTER JOIN pg_catalog.pg_shdescription descr ON ( db.oid=descr.objoid AND descr.classoid='pg_database'::regclass ) WHERE db.oid > 0::OID ORDER BY datname
--- pgadmin schemas
SELECT nsp.oid, nsp.nspname as name, pg_catalog.has_schema_privilege(nsp.oid, 'CREATE') as can_create, pg_catalog.has_schema_privilege(nsp.oid, 'USAGE') as has_usage, des.description FROM pg_catalog.pg_namespace nsp LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid=nsp.oid AND des.classoid='pg_namespace'::regclass) WHERE nspname NOT LIKE E'pg\\_%' AND NOT ( (nsp.nspname = 'pg_catalog' AND EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'pg_class' AND relnamespace = nsp.oid LIMIT 1)) OR (nsp.nspname = 'information_schema' AND EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'tables' AND relnamespace = nsp.oid LIMIT 1)) ) ORDER BY nspname
--- pgadmin tables
SELECT rel.oid, rel.relname AS name, (SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid=rel.oid AND tgisinternal = FALSE) AS triggercount, (SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid=rel.oid AND tgisinternal = FALSE AND tgenabled = 'O') AS has_enable_triggers, (CASE WHEN rel.relkind = 'p' THEN true ELSE false END) AS is_partitioned, (SELECT count(1) FROM pg_catalog.pg_inherits WHERE inhrelid=rel.oid LIMIT 1) as is_inherits, (SELECT count(1) FROM pg_catalog.pg_inherits WHERE inhparent=rel.oid LIMIT 1) as is_inherited, des.description FROM pg_catalog.pg_class rel LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid=rel.oid AND des.objsubid=0 AND des.classoid='pg_class'::regclass) WHERE rel.relkind IN ('r','s','t','p') AND rel.relnamespace = 'public'::regnamespace::oid AND NOT rel.relispartition ORDER BY rel.relname
--- pgadmin columns
SELECT DISTINCT att.attname as name, att.attnum as OID, pg_catalog.format_type(ty.oid,NULL) AS datatype, att.attnotnull as not_null, CASE WHEN att.atthasdef OR att.attidentity != '' OR ty.typdefault IS NOT NULL THEN True ELSE False END as has_default_val, des.description, seq.seqtypid FROM pg_catalog.pg_attribute att JOIN pg_catalog.pg_type ty ON ty.oid=atttypid JOIN pg_catalog.pg_namespace tn ON tn.oid=ty.typnamespace JOIN pg_catalog.pg_class cl ON cl.oid=att.attrelid JOIN pg_catalog.pg_namespace na ON na.oid=cl.relnamespace LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid=ty.typelem LEFT OUTER JOIN pg_catalog.pg_attrdef def ON adrelid=att.attrelid AND adnum=att.attnum LEFT OUTER JOIN (pg_catalog.pg_depend JOIN pg_catalog.pg_class cs ON classid='pg_class'::regclass AND objid=cs.oid AND cs.relkind='S') ON refobjid=att.attrelid AND refobjsubid=att.attnum LEFT OUTER JOIN pg_catalog.pg_namespace ns ON ns.oid=cs.relnamespace LEFT OUTER JOIN pg_catalog.pg_index pi ON pi.indrelid=att.attrelid AND indisprimary LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid=att.attrelid AND des.objsubid=att.attnum AND des.classoid='pg_class'::regclass) LEFT OUTER JOIN pg_catalog.pg_sequence seq ON cs.oid=seq.seqrelid WHERE att.attrelid = 'cpu'::regclass::oid AND att.attnum > 0 AND att.attisdropped IS FALSE ORDER BY att.attnum
--- pgadmin activity
SELECT pid, datname, usename, application_name, client_addr, pg_catalog.to_char(backend_start, 'YYYY-MM-DD HH24:MI:SS TZ') AS backend_start, state, wait_event_type || ': ' || wait_event AS wait_event, array_to_string(pg_catalog.pg_blocking_pids(pid), ', ') AS blocking_pids, query FROM pg_catalog.pg_stat_activity ORDER BY pid
--- psql completion of tables
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND (c.relname) LIKE 'cp%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog') UNION ALL SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'cp%' AND n.nspname NOT LIKE E'pg\\_%' LIMIT 1000
--- psql completion of columns
SELECT a.attname FROM pg_catalog.pg_attribute a, pg_catalog.pg_class c WHERE c.oid = a.attrelid AND a.attnum > 0 AND NOT a.attisdropped AND (a.attname) LIKE 'h%' AND (c.relname) = ('cpu') AND pg_catalog.pg_table_is_visible(c.oid) LIMIT 1000
--- psql completion of settings
SELECT pg_catalog.lower(name) FROM pg_catalog.pg_settings WHERE name LIKE 'time%' UNION ALL SELECT 'all' LIMIT 1000
--- pgx types
select n.nspname, t.typname, t.oid, t.typtype, t.typelem from pg_type t join pg_namespace n on n.oid = t.typnamespace where t.oid = any(array[1114, 1016]::oid[]) order by t.oid
--- pgx load types
with recursive t as (select oid, typname, typelem, 0 as depth from pg_type where typname in ('_int8') union all select e.oid, e.typname, e.typelem, t.depth + 1 from pg_type e join t on e.oid = t.typelem) select typname, depth from t order by depth desc
--- psycopg type info
SELECT typname AS name, oid, typarray AS array_oid, oid::regtype::text AS regtype, typdelim AS delimiter FROM pg_type t WHERE t.oid = to_regtype('int8') ORDER BY t.oid
