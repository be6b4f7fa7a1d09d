// Package gitstore keeps small trees of files on refs of the user's own repository. It knows bytes, paths, object ids,
// refs and operations; it does not know what a Todo is (storage.md).
//
// Git is the authority: git processes discover the repository, move refs and answer for every object. Reading loose
// objects and loose refs natively, and writing loose objects, is an optimisation beside them that gives the same answers.
//
// One way to write: [Repository.Apply] loads the tip of a ref, lets a caller decide on it, writes blobs, trees and a
// commit that also holds the operation's receipt, and moves the ref from the loaded tip to that commit. A process killed
// at any instant leaves the ref at its old or its new value.
package gitstore
