/** Words within pictures. */
export const pictureWords = {
  north: "N ↑",
  kilometres: (count: number) => `${count} km`,
  metres: (count: number) => `${count} m`,
};
