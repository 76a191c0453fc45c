/** Everything outbound, put together: the copy of the configuration, the delivery queue and exports. */
import { join } from "node:path";
import { alertReceiversOf } from "../../config/alert-settings.ts";
import { messageSettingsOf } from "../../config/company-settings.ts";
import { nodePlaceOf } from "../../config/node-place.ts";
import type { Config } from "../../config/schema.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { createDocumentReader } from "../../outbound/completion-documents.ts";
import { DeliveryQueue } from "../../outbound/delivery-queue.ts";
import { createExportRendering, ExportFiles } from "../../outbound/export-files.ts";
import { createExportScheduler } from "../../outbound/export-scheduler.ts";
import type { RenderOrWithhold } from "../../outbound/delivery-to-render.ts";
import { createAlertRenderer } from "../../outbound/render-alert.ts";
import { createDeliveryRenderer } from "../../outbound/render-delivery.ts";
import { createMessageRenderer } from "../../outbound/render-message.ts";
import type { CompanyWork } from "../../store/cluster/ownership.ts";
import type { Store } from "../../store/database/database.ts";
import { findDeliveryHold } from "../../store/outbound/delivery-hold.ts";
import type { Cluster } from "./cluster.ts";
import {
  allExportPlans,
  saveOutboundSettings,
  saveOwnOutboundSettings,
  takeOutboundSettingsOf,
} from "./outbound-settings.ts";
import { ownWorkOf } from "./own-work.ts";
import { createFolderThread } from "../../targets/folder/folder-thread.ts";
import { createTargets } from "./outbound-targets.ts";
import type { ReleaseStack } from "./service-group.ts";

export interface OutboundDeps {
  readonly store: Store;
  readonly cluster: Cluster;
  readonly stateDir: string;
  readonly documentsDir: string;
  readonly config: () => Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly stack: ReleaseStack;
  readonly signal: AbortSignal;
}

export interface Outbound extends Pick<DeliveryQueue, "statistics"> {
  /** Takes over the configuration that is in force now. */
  reload(): Promise<void>;
}

/** The files of exports, which no other node reads: they are removed once nobody reads them any more. */
async function startExportFiles(deps: OutboundDeps, rendering: ReturnType<typeof createExportRendering>) {
  const directory = join(nodePlaceOf(deps.config()).nodeDir, "exports");
  const files = new ExportFiles({ store: deps.store, rendering, directory });
  await files.start();
  deps.stack.push({ name: "export files", release: () => files.close() });
  return files;
}

/** The node that has a company has its configuration in the store. */
function settingsWork(store: Pick<Store, "read" | "write">, config: () => Config): CompanyWork {
  return {
    name: "outbound settings",
    take: ({ companyId: id, companyCode: code }) => takeOutboundSettingsOf(store, config, { id, code }),
    leave: async () => undefined,
  };
}

/** Starts the queue and the exports. The rows that they need are in the store afterwards, also at a first start. */
export async function startOutbound(deps: OutboundDeps): Promise<Outbound> {
  const { store, clock, log, stack, signal, config, stateDir } = deps;
  const readDocument = createDocumentReader(deps);
  const exportFiles = await startExportFiles(deps, createExportRendering(readDocument));
  const { ownership, keeper } = deps.cluster;
  const own = { ...ownWorkOf(deps), ownership, clock, log };
  if (keeper === undefined) await saveOutboundSettings(store, config());
  else keeper.add(settingsWork(own.store, config));
  const renderFiles = createDeliveryRenderer({
    readDocument,
    export: exportFiles.render,
  });
  const renderMessage = createMessageRenderer({
    ...{ store, clock, settings: (companyCode) => messageSettingsOf(config(), companyCode) },
  });
  const renderAlert = createAlertRenderer({
    ...{ read: store.read, receiversOf: (companyCode) => alertReceiversOf(config(), companyCode) },
  });
  const render: RenderOrWithhold = (row) => {
    if (row.kind === "alert") return renderAlert(row);
    return row.kind === "message" ? renderMessage(row) : renderFiles(row);
  };
  const folderThread = createFolderThread();
  stack.push({ name: "delivering thread", release: () => folderThread.close() });
  const targets = createTargets({ config, stateDir, folderThread });
  const queue = new DeliveryQueue({ ...own, targets, render, random: Math.random });
  await stack.start(queue, signal);
  keeper?.add(queue);
  // Whoever records an event wakes the queue with its commit, by whatever way the change came in.
  const endListening = store.listen("deliveries", () => queue.wake());
  stack.push({ name: "news of deliveries", release: async () => endListening() });
  // Before the queue is stopped: it would wait for a large export to be rendered.
  stack.push({ name: "export rendering", release: async () => exportFiles.stopRendering() });
  // While deliveries are held, an export would only fix its window too early.
  const plans = async () =>
    (await findDeliveryHold(store.read)) === undefined ? await allExportPlans(store, config()) : [];
  const tidy = () => exportFiles.tidy();
  const exports = createExportScheduler({ ...own, plans, tidy });
  await stack.start(exports, signal);
  keeper?.add(exports);
  return {
    statistics: () => queue.statistics(),
    async reload() {
      if (keeper === undefined) await saveOutboundSettings(store, config());
      else await saveOwnOutboundSettings(own, config);
      queue.reload();
      await exports.look();
    },
  };
}
