/** The file by which nodes, and `dropgate check`, know that they have the same tree; its content is the incarnation. */
export const treeTokenName = "tree-token";
