/** The names under which broken uploads are listed. */
import { isUnfinishedName } from "../../domain/files/unfinished-name.ts";

/** `.x.xml.partial`: how the broken upload of `x.xml` is listed. */
export function aliasFor(name: string): string {
  return isUnfinishedName(name) ? name : `.${name}.partial`;
}

/** The name of the upload that is listed under the alias; undefined when it is no alias. */
export function nameOfAlias(name: string): string | undefined {
  const inner = /^\.(.+)\.partial$/.exec(name)?.[1];
  return inner === undefined || isUnfinishedName(inner) ? undefined : inner;
}
