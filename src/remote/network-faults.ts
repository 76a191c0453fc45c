/** Faults of sockets and of TLS, translated once for all targets that speak over a network. */
import type { DeliveryFault } from "../domain/outbound/delivery-fault.ts";
import { messageOf, systemCodeOf } from "../lib/errors.ts";
import { untrustedCodes } from "../lib/untrusted-codes.ts";
import { quoted, TransferFault } from "./transfer-fault.ts";

interface Meaning {
  readonly fault: DeliveryFault;
  readonly words: string;
}

const unreachable = (words: string): Meaning => ({ fault: "unreachable", words });
const lost = (words: string): Meaning => ({ fault: "connectionLost", words });
const identity = (words: string): Meaning => ({ fault: "identity", words });

const noPath = unreachable("there is no way to it through the network; check the network and the firewall");
const untrusted = identity(
  "no trusted authority signed its certificate; put the certificate of the authority that signed it into `ca`",
);
const selfSigned = identity("its certificate is signed by itself; put it into `ca` if it is the right one");

const meanings: Readonly<Record<string, Meaning>> = {
  ...Object.fromEntries(untrustedCodes.map((code) => [code, untrusted])),
  ECONNREFUSED: unreachable("nothing listens there; check address and port, and whether the server runs"),
  ENOTFOUND: unreachable("the name has no address; check the host name"),
  EAI_AGAIN: unreachable("the name cannot be looked up now; check the name service of this machine"),
  EHOSTUNREACH: noPath,
  ENETUNREACH: noPath,
  EADDRNOTAVAIL: noPath,
  ETIMEDOUT: unreachable("it does not answer; check address and firewall"),
  ECONNRESET: lost("it closed the connection"),
  EPIPE: lost("it closed the connection"),
  ECONNABORTED: lost("the connection broke"),
  CERT_HAS_EXPIRED: identity("its certificate has expired; the server needs a new one"),
  CERT_NOT_YET_VALID: identity("its certificate is not valid yet; check the clocks"),
  DEPTH_ZERO_SELF_SIGNED_CERT: selfSigned,
  CERT_REVOKED: identity("its certificate has been revoked"),
  INVALID_PURPOSE: identity("its certificate is not one for servers"),
  ERR_TLS_CERT_ALTNAME_INVALID: identity(
    "its certificate is for another name; check the host name, or at the server's certificate",
  ),
};

/** Alerts by which a server says that it does not know us. They come as codes of OpenSSL with changing beginnings. */
const clientCertificateAlert =
  /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_(UNKNOWN|EXPIRED|REVOKED)|ACCESS_DENIED)|SSLV3_ALERT_HANDSHAKE_FAILURE/;

function meaningOf(code: string): Meaning | undefined {
  const known = meanings[code];
  if (known !== undefined) return known;
  if (clientCertificateAlert.test(code)) {
    const words = "it does not take our client certificate; check `certificate` and `privateKey`";
    return { fault: "credentials", words };
  }
  if (code.startsWith("CERT_")) return untrusted;
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") {
    const words = "it offers no TLS version that dropgate accepts (at least TLS 1.2); check the port";
    return { fault: "protocol", words };
  }
  if (code.startsWith("ERR_OSSL_")) {
    const words = "a certificate or key of ours cannot be used; check `ca`, `certificate`, `privateKey`";
    return { fault: "configuration", words };
  }
  return undefined;
}

/** The fault that a socket's error stands for, or undefined when it is none of a socket. `where` names the peer. */
export function networkFault(thrown: unknown, where: string): TransferFault | undefined {
  const code = systemCodeOf(thrown);
  const meaning = code === undefined ? undefined : meaningOf(code);
  if (meaning === undefined) return undefined;
  const scope = meaning.fault === "protocol" ? ({ scope: "target" } as const) : {};
  return new TransferFault(meaning.fault, `${where}: ${meaning.words} (${code}).`, {
    ...scope,
    cause: thrown,
  });
}

/** The same for what may be anything: what is not known is a fault of the protocol, in the words of the library. */
export function anyFault(thrown: unknown, where: string, secrets: readonly (string | undefined)[] = []) {
  if (thrown instanceof TransferFault) return thrown;
  const known = networkFault(thrown, where);
  if (known !== undefined) return known;
  const said = quoted(messageOf(thrown), secrets);
  return new TransferFault("protocol", `${where}: ${said}`, { scope: "target", cause: thrown });
}
