"""The objects by which Argo CD and Flux apply an environment, and the health of Volcano's objects in both."""
