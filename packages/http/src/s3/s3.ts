// The API of S3 as Gateways and core use it for the operator's store. An entry of its own: nothing else loads the signer.
export { decodeListed, encodeKey, encodeStrictly, hasDotSegment, UnconfinedError } from './names.ts';
export {
  AnswerTooLargeError,
  contentMd5,
  type StorePlace,
  type StoreRequest,
  sendToStore,
  sha256,
  storeBytes,
  storeOrigin,
  storeText,
} from './send.ts';
export type { StoreCredentials } from './sign.ts';
export { childText, readXml, writeXml, type XmlElement, XmlError } from './xml.ts';
