#pragma once

#include <utility>
#include <vector>

#include "simulation/deformable/frames.hpp"
#include "simulation/deformable/link_grid.hpp"
#include "simulation/engine.hpp"

namespace conebench::simulation {

/// What can touch a shape: a node, or a ball about a point of a rigid body.
struct SurfacePoint {
  int body = 0;
  Index first = 0;        ///< of a node: its first velocity
  Eigen::Vector3d local;  ///< in the body's frame, of a node where it is at rest
  double radius = 0.0;
  bool node = false;
};

/// Finds contacts: of nodes and points with shapes, and, where bodies touch themselves, of rigid bodies' capsules with
/// each other. Shapes have the numbers from 0 on, then come points, then rigid bodies as capsules.
class SurfaceContacts {
 public:
  SurfaceContacts() = default;
  SurfaceContacts(const SoftModel& model, bool self_contact);

  const SurfacePoint& point(std::size_t k) const { return points_[k]; }
  std::size_t points() const { return points_.size(); }

  /// Puts contacts, J and the surfaces' own motion into `mechanics`; `frames` stand where the state is. No allocation
  /// where there have been as many contacts before.
  void find(const State& state, const Frames& frames, const Reach& reach, Mechanics& mechanics);

 private:
  struct Pair {
    PointMotion first, second;
    Eigen::Vector3d surface = Eigen::Vector3d::Zero();  ///< velocity of the first one by itself [m/s]
  };
  void add_points(const SoftBody& body, int number, Index first);
  /// Of one find().
  struct Search {
    const State& state;
    const Frames& frames;
    const Reach& reach;
    std::vector<ContactPoint>& contacts;
    double farthest;  ///< gap beyond which no contact of a shape is taken [m]
  };
  void touch(std::size_t p, std::size_t s, const Search& search);
  void touch_capsules(const Search& search);
  void touch_capsules(int a, int b, const Search& search);
  /// Takes a contact that is whole but for its row in J where its gap is within reach.
  void take(ContactPoint contact, const Pair& pair, const Search& search);
  void fill_jacobian(SparseMatrix& jacobian);
  bool joined(int a, int b) const;
  PointMotion motion_of(const SurfacePoint& point, const Eigen::Vector3d& at, const Frames& frames) const;
  Eigen::Vector3d led(int carrier, const Eigen::Vector3d& point, const Search& search) const;
  double farthest(const State& state, const Reach& reach) const;

  const SoftModel* model_ = nullptr;
  std::vector<SurfacePoint> points_;
  std::vector<int> capsules_;                    ///< among the rigid bodies
  std::vector<std::pair<int, int>> neighbours_;  ///< of capsules that joints connect, in order
  double widest_ = 0.0;                          ///< of the capsules, from their centres [m]

  struct Entry {
    int column, row;
    Eigen::Vector3d values;
  };
  std::vector<Entry> entries_;
  std::vector<int> filled_;
  std::vector<double> drift_;
  std::vector<Eigen::Vector3d> centres_;
  NearPairs near_;
};

}  // namespace conebench::simulation
