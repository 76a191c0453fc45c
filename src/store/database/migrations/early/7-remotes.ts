/** Adds the files of remotes. Frozen: never change it. */
export const sql = `
create table remote_files (
  company_id integer not null references companies (id),
  remote text not null, name text not null, size bigint not null, modified text not null,
  sha256 text not null, state text not null, after_file_id bigint not null,
  noted_at bigint not null,
  constraint remote_files_key primary key (company_id, remote, name)
);
`;
