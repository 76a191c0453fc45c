/** What can go wrong with a server or folder of others, for the log, lists and what an administrator is told to do. */
export type DeliveryFault =
  | "unreachable"
  | "timeout"
  | "connectionLost"
  | "identity"
  | "credentials"
  | "notAllowed"
  | "missingFolder"
  | "noSpace"
  | "refused"
  | "busy"
  | "protocol"
  | "configuration"
  | "content";
