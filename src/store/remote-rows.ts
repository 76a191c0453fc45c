/** The rows of what was taken from remotes. */
export interface RemoteFilesTable {
  company_id: number;
  remote: string;
  name: string;
  size: number;
  modified: string;
  sha256: string;
  state: string;
  after_file_id: number;
  noted_at: number;
}
