/**
 * Version of the rendering of completion files. A completion is made with the version of its time, and gives the same
 * bytes as long as it is kept: whoever changes what is written counts up, and keeps the way it was for older ones.
 */
export const completionFormat = 1;
