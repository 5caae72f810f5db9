/** Relations of `pg_catalog` that exist for clients and have no rows here: there are no triggers, rules or extensions. */
import { type InformationTable, informationTable } from "../information-table.ts";

/** Name and columns of each. */
const COLUMNS: Readonly<Record<string, string>> = {
  pg_amop:
    "oid:oid amopfamily:oid amoplefttype:oid amoprighttype:oid amopstrategy:i16 amoppurpose amopopr:oid amopmethod:oid amopsortfamily:oid",
  pg_amproc: "oid:oid amprocfamily:oid amproclefttype:oid amprocrighttype:oid amprocnum:i16 amproc",
  pg_auth_members: "oid:oid roleid:oid member:oid grantor:oid admin_option:b inherit_option:b set_option:b",
  pg_cast: "oid:oid castsource:oid casttarget:oid castfunc:oid castcontext castmethod",
  pg_conversion: "oid:oid conname connamespace:oid conowner:oid conforencoding:i32 contoencoding:i32 conproc condefault:b",
  pg_db_role_setting: "setdatabase:oid setrole:oid setconfig:a?",
  pg_default_acl: "oid:oid defaclrole:oid defaclnamespace:oid defaclobjtype defaclacl:a?",
  pg_depend: "classid:oid objid:oid objsubid:i32 refclassid:oid refobjid:oid refobjsubid:i32 deptype",
  pg_enum: "oid:oid enumtypid:oid enumsortorder:f32 enumlabel",
  pg_event_trigger: "oid:oid evtname evtevent evtowner:oid evtfoid:oid evtenabled evttags:a?",
  pg_extension: "oid:oid extname extowner:oid extnamespace:oid extrelocatable:b extversion extconfig:ai? extcondition:a?",
  pg_foreign_data_wrapper: "oid:oid fdwname fdwowner:oid fdwhandler:oid fdwvalidator:oid fdwacl:a? fdwoptions:a?",
  pg_foreign_server: "oid:oid srvname srvowner:oid srvfdw:oid srvtype? srvversion? srvacl:a? srvoptions:a?",
  pg_foreign_table: "ftrelid:oid ftserver:oid ftoptions:a?",
  pg_inherits: "inhrelid:oid inhparent:oid inhseqno:i32 inhdetachpending:b",
  pg_init_privs: "objoid:oid classoid:oid objsubid:i32 privtype initprivs:a?",
  pg_largeobject: "loid:oid pageno:i32 data:bin?",
  pg_largeobject_metadata: "oid:oid lomowner:oid lomacl:a?",
  pg_matviews: "schemaname matviewname matviewowner tablespace? hasindexes:b ispopulated:b definition",
  pg_partitioned_table: "partrelid:oid partstrat partnatts:i16 partdefid:oid partattrs:ai partclass:ai partcollation:ai partexprs?",
  pg_policy: "oid:oid polname polrelid:oid polcmd polpermissive:b polroles:ai? polqual? polwithcheck?",
  pg_publication: "oid:oid pubname pubowner:oid puballtables:b pubinsert:b pubupdate:b pubdelete:b pubtruncate:b pubviaroot:b",
  pg_publication_namespace: "oid:oid pnpubid:oid pnnspid:oid",
  pg_publication_rel: "oid:oid prpubid:oid prrelid:oid prqual? prattrs:ai?",
  pg_range: "rngtypid:oid rngsubtype:oid rngmultitypid:oid rngcollation:oid rngsubopc:oid rngcanonical rngsubdiff",
  pg_replication_origin: "roident:oid roname",
  pg_replication_slots: `slot_name plugin? slot_type datoid:oid? database? temporary:b active:b active_pid:i32? xmin? catalog_xmin?
    restart_lsn? confirmed_flush_lsn? wal_status? safe_wal_size:i64? two_phase:b conflicting:b?`,
  pg_rewrite: "oid:oid rulename ev_class:oid ev_type ev_enabled is_instead:b ev_qual? ev_action?",
  pg_seclabel: "objoid:oid classoid:oid objsubid:i32 provider label",
  pg_sequence: "seqrelid:oid seqtypid:oid seqstart:i64 seqincrement:i64 seqmax:i64 seqmin:i64 seqcache:i64 seqcycle:b",
  pg_shdepend: "dbid:oid classid:oid objid:oid objsubid:i32 refclassid:oid refobjid:oid deptype",
  pg_shdescription: "objoid:oid classoid:oid description",
  pg_shseclabel: "objoid:oid classoid:oid provider label",
  pg_stat_user_tables: `relid:oid schemaname relname seq_scan:i64 last_seq_scan:ts6? seq_tup_read:i64 idx_scan:i64? last_idx_scan:ts6?
    idx_tup_fetch:i64? n_tup_ins:i64 n_tup_upd:i64 n_tup_del:i64 n_tup_hot_upd:i64 n_tup_newpage_upd:i64 n_live_tup:i64 n_dead_tup:i64
    n_mod_since_analyze:i64 n_ins_since_vacuum:i64 last_vacuum:ts6? last_autovacuum:ts6? last_analyze:ts6? last_autoanalyze:ts6?
    vacuum_count:i64 autovacuum_count:i64 analyze_count:i64 autoanalyze_count:i64`,
  pg_statistic: "starelid:oid staattnum:i16 stainherit:b stanullfrac:f32 stawidth:i32 stadistinct:f32",
  pg_statistic_ext: `oid:oid stxrelid:oid stxname stxnamespace:oid stxowner:oid stxkeys:ai stxstattarget:i32? stxkind:a stxexprs?`,
  pg_statistic_ext_data: "stxoid:oid stxdinherit:b stxdndistinct? stxddependencies? stxdmcv? stxdexpr?",
  pg_subscription: `oid:oid subdbid:oid subname subowner:oid subenabled:b subbinary:b substream subtwophasestate subdisableonerr:b
    subpasswordrequired:b subrunasowner:b subconninfo? subslotname? subsynccommit
    subpublications:a? subskiplsn? suborigin?`,
  pg_subscription_rel: "srsubid:oid srrelid:oid srsubstate srsublsn?",
  pg_trigger: `oid:oid tgrelid:oid tgparentid:oid tgname tgfoid:oid tgtype:i16 tgenabled tgisinternal:b tgconstrrelid:oid tgconstrindid:oid
    tgconstraint:oid tgdeferrable:b tginitdeferred:b tgnargs:i16 tgattr:ai tgargs:bin? tgqual? tgoldtable? tgnewtable?`,
  pg_ts_config: "oid:oid cfgname cfgnamespace:oid cfgowner:oid cfgparser:oid",
  pg_ts_dict: "oid:oid dictname dictnamespace:oid dictowner:oid dicttemplate:oid dictinitoption?",
  pg_ts_parser: "oid:oid prsname prsnamespace:oid prsstart prstoken prsend prsheadline prslextype",
  pg_ts_template: "oid:oid tmplname tmplnamespace:oid tmplinit tmpllexize",
  pg_user_mappings: "umid:oid srvid:oid srvname umuser:oid usename? umoptions:a?",
  pg_parameter_acl: "oid:oid parname paracl:a?",
  pg_transform: "oid:oid trftype:oid trflang:oid trffromsql:oid trftosql:oid",
  pg_locks: `locktype database:oid? relation:oid? page:i32? tuple:i16? virtualxid? transactionid:i32? classid:oid? objid:oid? objsubid:i16?
    virtualtransaction pid:i32 mode granted:b fastpath:b waitstart:ts6?`,
  pg_policies: "schemaname tablename policyname permissive roles:a? cmd qual? with_check?",
  pg_rules: "schemaname tablename rulename definition",
  pg_sequences: `schemaname sequencename sequenceowner data_type start_value:i64 min_value:i64 max_value:i64 increment_by:i64 cycle:b
    cache_size:i64 last_value:i64?`,
  pg_shadow: `usename usesysid:oid usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd? valuntil:ts6? useconfig:a?`,
  pg_available_extensions: "name default_version installed_version? comment",
  pg_prepared_xacts: "transaction:i32 gid prepared:ts6 owner database",
  pg_stat_activity: `datid:oid? datname? pid:i32 leader_pid:i32? usesysid:oid? usename? application_name? client_addr? client_hostname?
    client_port:i32? backend_start:ts6? xact_start:ts6? query_start:ts6? state_change:ts6? wait_event_type? wait_event? state?
    backend_xid:i32? backend_xmin:i32? query_id:i64? query? backend_type?`,
  pg_stat_user_indexes: `relid:oid indexrelid:oid schemaname relname indexrelname idx_scan:i64 last_idx_scan:ts6? idx_tup_read:i64
    idx_tup_fetch:i64`,
  pg_user_mapping: "oid:oid umuser:oid umserver:oid umoptions:a?",
};

/** The tables. */
export const EMPTY_RELATIONS: readonly InformationTable[] = Object.entries(COLUMNS).map(([name, columns]) =>
  informationTable(name, 0, columns),
);
