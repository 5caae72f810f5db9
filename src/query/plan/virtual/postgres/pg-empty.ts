/** Relations of `pg_catalog` that exist for clients and have no rows here: there are no triggers, rules or extensions. */
import { type InformationTable, informationTable } from "../information-table.ts";

/** Name and columns of each. */
const COLUMNS: Readonly<Record<string, string>> = {
  pg_amop:
    "oid:i32 amopfamily:i32 amoplefttype:i32 amoprighttype:i32 amopstrategy:i16 amoppurpose amopopr:i32 amopmethod:i32 amopsortfamily:i32",
  pg_amproc: "oid:i32 amprocfamily:i32 amproclefttype:i32 amprocrighttype:i32 amprocnum:i16 amproc",
  pg_auth_members: "oid:i32 roleid:i32 member:i32 grantor:i32 admin_option:b inherit_option:b set_option:b",
  pg_cast: "oid:i32 castsource:i32 casttarget:i32 castfunc:i32 castcontext castmethod",
  pg_conversion: "oid:i32 conname connamespace:i32 conowner:i32 conforencoding:i32 contoencoding:i32 conproc condefault:b",
  pg_db_role_setting: "setdatabase:i32 setrole:i32 setconfig:a?",
  pg_default_acl: "oid:i32 defaclrole:i32 defaclnamespace:i32 defaclobjtype defaclacl:a?",
  pg_depend: "classid:i32 objid:i32 objsubid:i32 refclassid:i32 refobjid:i32 refobjsubid:i32 deptype",
  pg_enum: "oid:i32 enumtypid:i32 enumsortorder:f32 enumlabel",
  pg_event_trigger: "oid:i32 evtname evtevent evtowner:i32 evtfoid:i32 evtenabled evttags:a?",
  pg_extension: "oid:i32 extname extowner:i32 extnamespace:i32 extrelocatable:b extversion extconfig:ai? extcondition:a?",
  pg_foreign_data_wrapper: "oid:i32 fdwname fdwowner:i32 fdwhandler:i32 fdwvalidator:i32 fdwacl:a? fdwoptions:a?",
  pg_foreign_server: "oid:i32 srvname srvowner:i32 srvfdw:i32 srvtype? srvversion? srvacl:a? srvoptions:a?",
  pg_foreign_table: "ftrelid:i32 ftserver:i32 ftoptions:a?",
  pg_inherits: "inhrelid:i32 inhparent:i32 inhseqno:i32 inhdetachpending:b",
  pg_init_privs: "objoid:i32 classoid:i32 objsubid:i32 privtype initprivs:a?",
  pg_largeobject: "loid:i32 pageno:i32 data:bin?",
  pg_largeobject_metadata: "oid:i32 lomowner:i32 lomacl:a?",
  pg_matviews: "schemaname matviewname matviewowner tablespace? hasindexes:b ispopulated:b definition",
  pg_partitioned_table: "partrelid:i32 partstrat partnatts:i16 partdefid:i32 partattrs:ai partclass:ai partcollation:ai partexprs?",
  pg_policy: "oid:i32 polname polrelid:i32 polcmd polpermissive:b polroles:ai? polqual? polwithcheck?",
  pg_publication: "oid:i32 pubname pubowner:i32 puballtables:b pubinsert:b pubupdate:b pubdelete:b pubtruncate:b pubviaroot:b",
  pg_publication_namespace: "oid:i32 pnpubid:i32 pnnspid:i32",
  pg_publication_rel: "oid:i32 prpubid:i32 prrelid:i32 prqual? prattrs:ai?",
  pg_range: "rngtypid:i32 rngsubtype:i32 rngmultitypid:i32 rngcollation:i32 rngsubopc:i32 rngcanonical rngsubdiff",
  pg_replication_origin: "roident:i32 roname",
  pg_replication_slots: `slot_name plugin? slot_type datoid:i32? database? temporary:b active:b active_pid:i32? xmin? catalog_xmin?
    restart_lsn? confirmed_flush_lsn? wal_status? safe_wal_size:i64? two_phase:b conflicting:b?`,
  pg_rewrite: "oid:i32 rulename ev_class:i32 ev_type ev_enabled is_instead:b ev_qual? ev_action?",
  pg_seclabel: "objoid:i32 classoid:i32 objsubid:i32 provider label",
  pg_sequence: "seqrelid:i32 seqtypid:i32 seqstart:i64 seqincrement:i64 seqmax:i64 seqmin:i64 seqcache:i64 seqcycle:b",
  pg_shdepend: "dbid:i32 classid:i32 objid:i32 objsubid:i32 refclassid:i32 refobjid:i32 deptype",
  pg_shdescription: "objoid:i32 classoid:i32 description",
  pg_shseclabel: "objoid:i32 classoid:i32 provider label",
  pg_stat_user_tables: `relid:i32 schemaname relname seq_scan:i64 last_seq_scan:ts6? seq_tup_read:i64 idx_scan:i64? last_idx_scan:ts6?
    idx_tup_fetch:i64? n_tup_ins:i64 n_tup_upd:i64 n_tup_del:i64 n_tup_hot_upd:i64 n_tup_newpage_upd:i64 n_live_tup:i64 n_dead_tup:i64
    n_mod_since_analyze:i64 n_ins_since_vacuum:i64 last_vacuum:ts6? last_autovacuum:ts6? last_analyze:ts6? last_autoanalyze:ts6?
    vacuum_count:i64 autovacuum_count:i64 analyze_count:i64 autoanalyze_count:i64`,
  pg_statistic: "starelid:i32 staattnum:i16 stainherit:b stanullfrac:f32 stawidth:i32 stadistinct:f32",
  pg_statistic_ext: `oid:i32 stxrelid:i32 stxname stxnamespace:i32 stxowner:i32 stxkeys:ai stxstattarget:i32? stxkind:a stxexprs?`,
  pg_statistic_ext_data: "stxoid:i32 stxdinherit:b stxdndistinct? stxddependencies? stxdmcv? stxdexpr?",
  pg_subscription: `oid:i32 subdbid:i32 subname subowner:i32 subenabled:b subbinary:b substream subtwophasestate subdisableonerr:b subpasswordrequired:b subrunasowner:b subconninfo? subslotname? subsynccommit
    subpublications:a? subskiplsn? suborigin?`,
  pg_subscription_rel: "srsubid:i32 srrelid:i32 srsubstate srsublsn?",
  pg_trigger: `oid:i32 tgrelid:i32 tgparentid:i32 tgname tgfoid:i32 tgtype:i16 tgenabled tgisinternal:b tgconstrrelid:i32 tgconstrindid:i32
    tgconstraint:i32 tgdeferrable:b tginitdeferred:b tgnargs:i16 tgattr:ai tgargs:bin? tgqual? tgoldtable? tgnewtable?`,
  pg_ts_config: "oid:i32 cfgname cfgnamespace:i32 cfgowner:i32 cfgparser:i32",
  pg_ts_dict: "oid:i32 dictname dictnamespace:i32 dictowner:i32 dicttemplate:i32 dictinitoption?",
  pg_ts_parser: "oid:i32 prsname prsnamespace:i32 prsstart prstoken prsend prsheadline prslextype",
  pg_ts_template: "oid:i32 tmplname tmplnamespace:i32 tmplinit tmpllexize",
  pg_user_mappings: "umid:i32 srvid:i32 srvname umuser:i32 usename? umoptions:a?",
  pg_parameter_acl: "oid:i32 parname paracl:a?",
  pg_transform: "oid:i32 trftype:i32 trflang:i32 trffromsql:i32 trftosql:i32",
  pg_locks: `locktype database:i32? relation:i32? page:i32? tuple:i16? virtualxid? transactionid:i32? classid:i32? objid:i32? objsubid:i16?
    virtualtransaction pid:i32 mode granted:b fastpath:b waitstart:ts6?`,
  pg_policies: "schemaname tablename policyname permissive roles:a? cmd qual? with_check?",
  pg_rules: "schemaname tablename rulename definition",
  pg_sequences: `schemaname sequencename sequenceowner data_type start_value:i64 min_value:i64 max_value:i64 increment_by:i64 cycle:b
    cache_size:i64 last_value:i64?`,
  pg_shadow: `usename usesysid:i32 usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd? valuntil:ts6? useconfig:a?`,
  pg_available_extensions: "name default_version installed_version? comment",
  pg_prepared_xacts: "transaction:i32 gid prepared:ts6 owner database",
  pg_stat_activity: `datid:i32? datname? pid:i32 leader_pid:i32? usesysid:i32? usename? application_name? client_addr? client_hostname?
    client_port:i32? backend_start:ts6? xact_start:ts6? query_start:ts6? state_change:ts6? wait_event_type? wait_event? state? backend_xid:i32?
    backend_xmin:i32? query_id:i64? query? backend_type?`,
  pg_user_mapping: "oid:i32 umuser:i32 umserver:i32 umoptions:a?",
};

/** The tables. */
export const EMPTY_RELATIONS: readonly InformationTable[] = Object.entries(COLUMNS).map(([name, columns]) =>
  informationTable(name, 0, columns),
);
