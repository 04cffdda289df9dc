/** The archive cannot be used. The message goes on after "The image of the package ". */
export class ImageArchiveError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ImageArchiveError';
  }
}
