import type { CliCommand } from "../command-line.ts";
import { listedDeliveries } from "../delivery-table.ts";
import {
  type DeliveryFilterOptions,
  deliveryFilterOf,
  type PageOptions,
  withDeliveryFilter,
  withDeliveryState,
  withPages,
} from "../filters.ts";

/** `dropgate deliveries` */
export function declareDeliveries(program: CliCommand): void {
  const deliveries = program
    .declare("deliveries", "list what goes out to targets, the newest first")
    .withJson();
  withDeliveryState(withPages(withDeliveryFilter(deliveries, "deliveries made"))).onConfig(
    async (run, config, options: DeliveryFilterOptions & PageOptions) => {
      const { countListed, listDeliveries } = await import("../../app/admin/outbound-admin.ts");
      const filter = deliveryFilterOf(options);
      if (options.count) return run.printCount(options, await countListed(config, filter));
      run.printLongList(options, await listDeliveries(config, filter, options), listedDeliveries);
    },
  );
}
