/** The numbers of locks that are no rows: any that no other program takes in the same database, and each for one purpose. */
export const migrationLock = 7_061_021;
/** Of the functions that hold units of work to their rules. */
export const watchLock = 7_061_022;
/** What a migration wishes of the programs that are there: with the schema. */
export const wishLock = 7_061_023;
/** Each session in which a program writes holds it, with the schema of the program. */
export const writerLock = 7_061_024;
/** Of transactions that give ids and are no units of work, while units are held to their rules. */
export const idsLock = 7_061_025;
